/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/compared-nodes.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/file.h"
#include "lib/json.h"
#include "lib/printable.h"
#include "lib/size.h"
#include "lib/table.h"
#include "record/read.h"

#define BYTES_MAX ((size_t)4 << 20)
#define LINES_MAX 40

static bool is_compared(json_object *object)
{
	return json_object_is_type(nt_json_member(object, "low"), json_type_array) &&
	       json_object_is_type(nt_json_member(object, "compared"), json_type_array) &&
	       json_object_is_type(nt_json_member(object, "pairs"), json_type_array);
}

static json_object *parse_line(const char *line, size_t bytes)
{
	json_object *object;

	if (nt_json_parse(line, bytes, &object, NULL) == 0 && is_compared(object))
		return object;
	json_object_put(object);
	return NULL;
}

json_object *nt_compared_parse(const char *text, size_t bytes, struct nt_error *err)
{
	json_object *last = NULL;

	if (bytes > BYTES_MAX) {
		nt_error_set(err, "over %zu bytes", BYTES_MAX);
		return NULL;
	}
	for (const char *end; bytes > 0; text = end + 1) {
		json_object *object;

		end = memchr(text, '\n', bytes);
		if (!end)
			break;
		bytes -= (size_t)(end + 1 - text);
		object = parse_line(text, (size_t)(end + 1 - text));
		if (!object)
			continue;
		json_object_put(last);
		last = object;
	}
	if (!last)
		nt_error_set(err, "it has no comparison of nodes");
	return last;
}

json_object *nt_compared_read(const char *path, struct nt_error *err)
{
	json_object *object = NULL;
	char *text = NULL;
	size_t bytes;

	err->text[0] = '\0';
	errno = 0;
	if (nt_file_read(path, BYTES_MAX, &text, &bytes, err) < 0) {
		if (errno == ENOENT)
			err->text[0] = '\0';
		return NULL;
	}
	object = nt_compared_parse(text, bytes, err);
	free(text);
	return object;
}

bool nt_compared_names_any(json_object *compared)
{
	json_object *low = nt_json_member(compared, "low");

	return low && json_object_array_length(low) > 0;
}

/* ---- text: the file is not trusted, so every word of it is made printable */

static const char *word(json_object *object, const char *name, char out[64])
{
	const char *text = json_object_get_string(nt_json_member(object, name));

	out[0] = '\0';
	if (text)
		(void)nt_printable_copy(out, 64, text, strlen(text));
	return out;
}

static double number(json_object *object, const char *name)
{
	json_object *value = nt_json_member(object, name);

	return value ? json_object_get_double(value) : NAN;
}

static void print_head(FILE *out, json_object *compared)
{
	json_object *nodes = nt_json_member(compared, "compared");
	char when[64], nccl[64];

	fprintf(out,
		"Nodes compared pair by pair in job %" PRId64
		", %s: %zu x %.0f, NCCL %s; %.0f rounds in "
		"%.0f s\n",
		json_object_get_int64(nt_json_member(compared, "job")),
		word(compared, "when", when), json_object_array_length(nodes),
		number(compared, "gpus"), word(compared, "nccl", nccl), number(compared, "rounds"),
		number(compared, "seconds"));
}

static int print_pairs(FILE *out, json_object *compared, struct nt_error *err)
{
	static const char *const columns[] = { "-PAIRS",   "-",	   "SIZE",
					       "MEDIAN",   "GB/s", "TIMES NCCL'S\nPREDICTION",
					       "DEVIATION" };
	struct nt_table table = NT_TABLE(columns, 0);
	json_object *pairs = nt_json_member(compared, "pairs");
	char text[64];

	for (size_t i = 0; i < json_object_array_length(pairs) && i < LINES_MAX; i++) {
		json_object *pair = json_object_array_get_idx(pairs, i);
		const double bytes = number(pair, "bytes");

		nt_cell(&table, "%s",
			strcmp(word(pair, "place", text), "inside") == 0 ? "within nodes"
									 : "between nodes");
		nt_cell(&table, "%s", word(pair, "what", text));
		nt_cell(&table, "%s",
			nt_size_text(bytes > 0 && bytes < 1e15 ? (size_t)bytes : 0, text,
				     sizeof(text)));
		nt_cell(&table, "%s", nt_time_text(number(pair, "us"), text, sizeof(text)));
		nt_cell_decimal(&table, number(pair, "algbw_gbs"), 2);
		nt_cell_decimal(&table, number(pair, "predicted"), 2);
		nt_cell(&table, "%.1f %%", 100 * number(pair, "deviation"));
	}
	return nt_table_print(out, &table, err);
}

static void print_slower(struct nt_table *table, json_object *low)
{
	const double slower = number(low, "slower"), p = number(low, "p");
	char text[64];

	if (isnan(slower)) {
		nt_cell(table, "wrong");
		nt_cell(table, "%s", "");
		nt_cell(table, "%s",
			json_object_get_boolean(nt_json_member(low, "sure"))
				? ""
				: "this node, or its partner");
		return;
	}
	nt_cell(table, "%.3f +- %.3f", slower, number(low, "error"));
	nt_cell(table, "%s", nt_share_text(p, text, sizeof(text)));
	nt_cell(table, "%s",
		json_object_get_boolean(nt_json_member(low, "expected"))
			? "NCCL sees less there, too"
			: "");
}

static void print_low(struct nt_table *table, json_object *low)
{
	char text[64];
	const double gpu = number(low, "gpu");

	nt_cell(table, "%s", word(low, "node", text));
	word(low, "part", text);
	if (isnan(gpu))
		nt_cell(table, "node");
	else
		nt_cell(table, "%s %.0f", strcmp(text, "nic") == 0 ? "NIC of GPU" : "GPU", gpu);
	nt_cell(table, "%s", word(low, "what", text));
	word(low, "place", text);
	nt_cell(table, "%s",
		strcmp(text, "inside") == 0    ? "within it"
		: strcmp(text, "between") == 0 ? "to others"
					       : "");
	print_slower(table, low);
}

int nt_compared_text(FILE *out, json_object *compared, struct nt_error *err)
{
	static const char *const columns[] = {
		"-NODE", "-PART", "-WHAT", "-WHERE", "TIMES THE\nMEDIAN", "P", "-"
	};
	struct nt_table table = NT_TABLE(columns, 0);
	json_object *low = nt_json_member(compared, "low");
	const size_t count = json_object_array_length(low);
	const double open = number(compared, "open");

	print_head(out, compared);
	if (print_pairs(out, compared, err) < 0)
		return -1;
	fputs(count > 0 ? "\nSlower than their like, or wrong:\n"
			: "\nNo node, GPU or NIC was found slower than its like.\n",
	      out);
	for (size_t i = 0; i < count && i < LINES_MAX; i++)
		print_low(&table, json_object_array_get_idx(low, i));
	if (count > 0 && nt_table_print(out, &table, err) < 0)
		return -1;
	if (count > LINES_MAX)
		fprintf(out, "... and %zu more (--json has all)\n", count - LINES_MAX);
	if (open > 0)
		fprintf(out, "Of %.0f node%s more time might show a difference of a few percent.\n",
			open, open > 1 ? "s" : "");
	return 0;
}
