/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The choices that were explored, as the record of one process has them. */
#include "report/model/explored.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "record/read.h"

#define HEAD "[{\"id\":\"00f3\",\"ranks\":8,\"nodes\":2,\"coll\":\"AllReduce\",\"bytes\":262144,"
#define PICK HEAD "\"auto\":\"RING/SIMPLE\",\"arm\":\"TREE/SIMPLE/4ch\",\"arms\":["
#define ARM(name, predicted, us) \
	"{\"arm\":\"" name "\"," predicted "\"us\":" us ",\"p25_us\":" us ",\"samples\":24}"
#define SAID(us) "\"predicted_us\":" us ","

static char said[4096];

static int print(const char *text, struct nt_error *err)
{
	FILE *out = tmpfile();
	json_object *array;
	size_t bytes;
	int rc;

	assert_non_null(out);
	assert_int_equal(nt_json_parse(text, strlen(text), &array, err), 0);
	rc = nt_explored_print(out, array, err);
	json_object_put(array);
	rewind(out);
	bytes = fread(said, 1, sizeof(said) - 1, out);
	said[bytes] = '\0';
	fclose(out);
	return rc;
}

static void has(const char *text)
{
	if (!strstr(said, text))
		fail_msg("no '%s' in\n%s", text, said);
}

static void prints_times_without_predictions(void **state)
{
	struct nt_error err = { "" };

	(void)state;
	if (print(PICK ARM("AUTO", SAID("100"), "300") "," ARM("TREE/SIMPLE", SAID("150"),
							       "200") "," ARM("TREE/SIMPLE/4ch", "",
									      "180") "]}]",
		  &err) < 0)
		fail_msg("%s", err.text);
	has("explored on 00f3 (8 ranks, 2 nodes): AllReduce 256K, NCCL's choice is RING/SIMPLE, "
	    "used is TREE/SIMPLE/4ch\n");
	has("TREE/SIMPLE        200.0    200.0    24\n");
	assert_null(strstr(said, "150"));
	assert_int_equal(print(PICK "]}]", &err), 0);
	assert_int_equal(print("[]", &err), 0);
	assert_string_equal(said, "");
	assert_int_equal(nt_explored_print(stdout, NULL, &err), 0);
}

static void damage_is_told(void **state)
{
	struct nt_error err;

	(void)state;
	assert_int_equal(print(PICK ARM("AUTO", "", "-3") "]}]", &err), -1);
	assert_int_equal(print(PICK ARM("RING/SIMPLE/5ch", "", "3") "]}]", &err), -1);
	assert_non_null(strstr(err.text, "explored 0: "));
	assert_int_equal(print(HEAD "\"auto\":\"RING/SIMPLE\",\"arms\":[]}]", &err), -1);
	assert_int_equal(print("[3]", &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_times_without_predictions),
		cmocka_unit_test(damage_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
