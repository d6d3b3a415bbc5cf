/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The content of a fingerprint, as text and as JSON. */
#include "cli/inventory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define NODE                                                                                    \
	"packages=2;numa=2;@0:((gfff0:0001,nfff0:0002),gfff0:0001),gfff0:0001;@0-1:nfff0:0003;" \
	"@1:gfff0:0004,sfff0:0005;"

static void is_printed(void **state)
{
	static const char expected[] =
		"packages      2\n"
		"NUMA nodes    2\n"
		"GPU           3 x fff0:0001\n"
		"GPU           1 x fff0:0004\n"
		"NVSwitch      1 x fff0:0005\n"
		"NIC           1 x fff0:0002\n"
		"NIC           1 x fff0:0003\n"
		"NUMA 0        ((GPU fff0:0001, NIC fff0:0002), GPU fff0:0001)\n"
		"NUMA 0        GPU fff0:0001\n"
		"NUMA 0-1      NIC fff0:0003\n"
		"NUMA 1        GPU fff0:0004\n"
		"NUMA 1        NVSwitch fff0:0005\n";
	char text[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_non_null(out);
	assert_int_equal(nt_inventory_print(out, NODE), 0);
	fclose(out);
	assert_string_equal(text, expected);
}

static void is_json(void **state)
{
	static const char expected[] =
		"{\"packages\":2,\"numa_nodes\":2,\"devices\":["
		"{\"kind\":\"GPU\",\"id\":\"fff0:0001\",\"count\":3},"
		"{\"kind\":\"NIC\",\"id\":\"fff0:0002\",\"count\":1},"
		"{\"kind\":\"NIC\",\"id\":\"fff0:0003\",\"count\":1},"
		"{\"kind\":\"GPU\",\"id\":\"fff0:0004\",\"count\":1},"
		"{\"kind\":\"NVSwitch\",\"id\":\"fff0:0005\",\"count\":1}],"
		"\"places\":["
		"{\"numa\":\"0\",\"devices\":[[[\"GPU fff0:0001\",\"NIC fff0:0002\"],\"GPU fff0:0001\"],"
		"\"GPU fff0:0001\"]},"
		"{\"numa\":\"0-1\",\"devices\":[\"NIC fff0:0003\"]},"
		"{\"numa\":\"1\",\"devices\":[\"GPU fff0:0004\",\"NVSwitch fff0:0005\"]}]}";
	json_object *object = json_object_new_object();

	(void)state;
	assert_int_equal(nt_inventory_json(object, NODE), 0);
	assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN),
			    expected);
	json_object_put(object);
}

static void nothing_is_a_node(void **state)
{
	json_object *object = json_object_new_object();
	char text[256] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_non_null(out);
	assert_int_equal(nt_inventory_print(out, "packages=1;numa=1;"), 0);
	fclose(out);
	assert_non_null(strstr(text, "GPU           none\n"));
	assert_int_equal(nt_inventory_json(object, "packages=1;numa=1;"), 0);
	assert_string_equal(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN),
			    "{\"packages\":1,\"numa_nodes\":1,\"devices\":[],\"places\":[]}");
	json_object_put(object);
}

static void other_texts_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"packages=2;numa=2",
		"packages=x;numa=2;",
		"packages=2;numa=2;@0:gfff0:0001",
		"packages=2;numa=2;@0:;",
		"packages=2;numa=2;@0:gfff0:0001,;",
		"packages=2;numa=2;@0:(gfff0:0001;",
		"packages=2;numa=2;@0:gfff0:0001);",
		"packages=2;numa=2;@0:xfff0:0001;",
		"packages=2;numa=2;@0:gfff0:001;",
		"packages=2;numa=2;0:gfff0:0001;",
		"packages=2;numa=2;@a:gfff0:0001;",
		"packages=2;numa=2;@0:(((((((((((((((((gfff0:0001,gfff0:0001)))))))))))))))));",
	};
	FILE *out = fopen("/dev/null", "w");

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_object *object = json_object_new_object();

		if (nt_inventory_print(out, texts[i]) == 0 ||
		    nt_inventory_json(object, texts[i]) == 0)
			fail_msg("'%s' is taken", texts[i]);
		json_object_put(object);
	}
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_printed),
		cmocka_unit_test(is_json),
		cmocka_unit_test(nothing_is_a_node),
		cmocka_unit_test(other_texts_are_refused),
	};

	return cmocka_run_group_tests_name("report-inventory", tests, NULL, NULL);
}
