/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded set of names. */
#include "lib/array.h"
#include "lib/name-set.h"

#include "tests/lib/unit.h"

static void numbers_names_in_their_order(void **state)
{
	struct nt_names names;
	char name[16];

	nt_names_init(&names, 5000);
	assert_int_equal(nt_names_find(&names, "a"), -1);
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "n%d", i * 7919 % 5000);
		assert_int_equal(nt_names_add(&names, name), i);
		assert_int_equal(nt_names_add(&names, name), i);
	}
	assert_int_equal(names.count, 5000);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(nt_names_find(&names, names.name[i]), i);
	nt_names_fini(&names);
}

static void takes_no_more_than_it_may(void **state)
{
	struct nt_names names;

	nt_names_init(&names, 2);
	assert_int_equal(nt_names_add(&names, ""), 0);
	assert_int_equal(nt_names_add(&names, "b"), 1);
	assert_int_equal(nt_names_add(&names, "c"), -1);
	assert_int_equal(nt_names_add(&names, "b"), 1);
	assert_int_equal(nt_names_find(&names, "c"), -1);
	nt_names_fini(&names);
}

static void an_array_grows_up_to_its_bound(void **state)
{
	uint32_t *items = NULL, *item;
	size_t count = 0;

	for (uint32_t i = 0; i < 100; i++) {
		item = nt_array_add(&items, &count, 100, sizeof(*item));
		assert_non_null(item);
		assert_int_equal(*item, 0);
		*item = i;
	}
	assert_null(nt_array_add(&items, &count, 100, sizeof(*item)));
	assert_int_equal(count, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(items[i], i);
	/* Items may have been taken out since. */
	count = 3;
	assert_int_equal(*(uint32_t *)nt_array_add(&items, &count, 100, sizeof(*item)), 0);
	assert_int_equal(items[2], 2);
	free(items);
}

UNIT_TESTS(numbers_names_in_their_order, takes_no_more_than_it_may, an_array_grows_up_to_its_bound);
