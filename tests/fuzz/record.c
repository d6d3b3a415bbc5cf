/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - records of processes, as nt-recordd's child reads them: what it makes of them is
 *            always a step record that its readers take, and lines that a memory takes
 *
 * Input: records of processes of job 12, step 0, with a byte 1 between them; or, with a byte 2
 * at the beginning, a spooled record; or, with a byte 3, what is in two trays of the node's memory.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "launch/memory.h"
#include "lib/printable.h"
#include "record/rankread.h"
#include "record/admincomment-merge.h"
#include "record/spool.h"
#include "record/step.h"
#include "record/job-summary.h"
#include "recordd/collect.h"
#include "recordd/longform.h"
#include "recordd/step-record.h"
#include "recordd/step-entry.h"
#include "tests/fuzz/fuzz.h"

/* What root's side takes from the child must be what a report takes. */
static void check_step(const char *record, size_t bytes)
{
	struct nt_summary summary;
	struct nt_error err = { "" };
	char *comment;

	if (nt_step_check(record, bytes, &err) < 0)
		fprintf(stderr, "%s: %s\n", err.text, record);
	FUZZ_CHECK(err.text[0] == '\0');
	FUZZ_CHECK(nt_admincomment_merge_step("", "0", record, &comment) ==
		   NT_ADMINCOMMENT_MERGE_DONE);
	FUZZ_CHECK(!strchr(record, '|'));
	nt_summary_init(&summary);
	FUZZ_CHECK(nt_summary_parse(&summary, comment, strlen(comment), NULL, &err) == 0);
	for (size_t i = 0; i < summary.remark_count; i++) {
		if (summary.remarks[i].kind == NT_REMARK_DAMAGE)
			fprintf(stderr, "%s: %s\n", summary.remarks[i].text, record);
	}
	FUZZ_CHECK(!nt_summary_damaged(&summary));
	nt_summary_fini(&summary);
	free(comment);
}

static void check_learned(const struct nt_sum *sum)
{
	static struct nt_arguments errand;
	static struct nt_ticket ticket;
	struct nt_memory_entry entry;
	struct nt_memory memory;
	char why[NT_LEARN_WHY], *line = NULL;
	size_t bytes = 0;
	struct nt_error err;
	FILE *out;

	memset(&errand, 0, sizeof(errand));
	errand.job = 12;
	errand.tasks = 4;
	errand.nodes = 2;
	errand.here = 2;
	memcpy(errand.fingerprint, "00000000000000ab", 17);
	FUZZ_CHECK(nt_ticket_parse(&ticket, "v=1;profile=default;why=GAIN", &err) == 0 ||
		   ticket.profile[0] == '\0');
	if (ticket.profile[0] == '\0')
		snprintf(ticket.profile, sizeof(ticket.profile), "%s", NT_PROFILE_DEFAULT);
	if (nt_step_entry_make(sum, &errand, &ticket, false, INT64_C(1763769600000000), &entry, why,
			       &err) != 1)
		return;
	out = open_memstream(&line, &bytes);
	FUZZ_CHECK(out && nt_entry_name(&entry, &err) == 0);
	FUZZ_CHECK(nt_entry_print(&entry, out) == 0);
	fclose(out);
	fuzz_check_plain(line, bytes);
	nt_memory_init(&memory);
	FUZZ_CHECK(nt_memory_read_text(&memory, line, bytes, &err) == 0);
	nt_memory_fini(&memory);
	nt_entry_fini(&entry);
	free(line);
}

static void check_sum(struct nt_sum *sum, const struct nt_calibrated *calibration)
{
	struct nt_ticket ticket = { .profile = "sockets-wide", .from = "a memory", .expected = 2 };
	struct nt_sum_head head = { .mode = "bandit", .tasks = 4, .nodes = 2, .final = true };
	char record[NT_STEP_RECORD_MAX + 1];
	size_t bytes = nt_sum_format(sum, &head, record, sizeof(record));

	if (bytes > 0)
		check_step(record, bytes);
	head.ticket = &ticket;
	head.calibration = calibration;
	head.final = false;
	head.measured = 1.25;
	bytes = nt_sum_format(sum, &head, record, sizeof(record));
	if (bytes > 0)
		check_step(record, bytes);
	check_learned(sum);
}

static void check_spooled(struct fuzz *in)
{
	static struct nt_spooled spooled;
	char *text = fuzz_text(in->at, in->left);
	struct nt_error err;

	if (nt_spooled_parse(&spooled, text, in->left, &err) == 0) {
		fuzz_check_plain(spooled.cluster, strlen(spooled.cluster));
		fuzz_check_plain(spooled.step, strlen(spooled.step));
		FUZZ_CHECK(nt_step_check(spooled.record, strlen(spooled.record), &err) == 0);
	}
	free(text);
}

/* As recordd/collect.c does. */
static void count_unusable(struct nt_sum *sum, struct nt_error *err)
{
	for (char *c = nt_printable(err->text); *c; c++) {
		if (strchr("\"\\{}", *c))
			*c = '?';
	}
	nt_sum_add_unusable(sum, err->text);
}

static void check_records(struct fuzz *in)
{
	struct nt_sum sum;
	struct nt_error err;
	char *text;

	nt_sum_init(&sum);
	while ((text = fuzz_part(in, 1)) != NULL) {
		struct nt_rank rank = { .root = NULL };

		(void)nt_rank_parse(&rank, text, strlen(text), &err);
		nt_rank_fini(&rank);
		if (nt_sum_add_record(&sum, text, strlen(text), 12, 0, &err) < 0)
			count_unusable(&sum, &err);
		free(text);
	}
	check_sum(&sum, NULL);
	nt_sum_fini(&sum);
}

/* The memory, without what an earlier input has left in it. */
static int empty_memory(void)
{
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("trays", MFD_CLOEXEC);
		FUZZ_CHECK(ftruncate(fd, (off_t)NT_SHM_BYTES) == 0);
	}
	FUZZ_CHECK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)NT_TRAYS_AT,
			     (off_t)(NT_TRAY_AT(2) - NT_TRAYS_AT)) == 0);
	return fd;
}

static void put_bytes(int fd, const void *bytes, size_t count, size_t at)
{
	FUZZ_CHECK(pwrite(fd, bytes, count, (off_t)at) == (ssize_t)count);
}

static void put_tray(int fd, uint32_t tray, struct fuzz *in)
{
	struct nt_tray head = { .kind = fuzz_below(in, 6), .written = fuzz_below(in, 3) };
	char *text;

	memset(&head.calls, 0, sizeof(head.calls));
	head.bytes[0] = (uint32_t)fuzz_odd_number(in);
	head.bytes[1] = (uint32_t)fuzz_odd_number(in);
	fuzz_bytes(in, head.about, sizeof(head.about));
	fuzz_bytes(in, &head.calls, fuzz_below(in, 600));
	for (unsigned half = 0; half < 2 && (text = fuzz_part(in, 1)) != NULL; half++) {
		if (head.bytes[half] > NT_TRAY_TEXT / 2)
			head.bytes[half] = (uint32_t)strlen(text);
		put_bytes(fd, text, strlen(text), NT_TRAY_TEXT_AT(tray, half));
		free(text);
	}
	put_bytes(fd, &head, sizeof(head), NT_TRAY_AT(tray));
}

static void check_trays(struct fuzz *in)
{
	const struct nt_trays trays = { .refused = fuzz_below(in, 3), .owner = { 1, 1 } };
	static struct nt_arguments arguments = { .job = 12,
						 .ticket = "v=1;profile=default;why=GAIN" };
	struct nt_ranks ranks = { .count = 0 };
	const int fd = empty_memory();
	struct nt_step_read read;
	struct nt_error err;

	put_bytes(fd, &trays, sizeof(trays), NT_TRAYS_AT);
	put_tray(fd, 0, in);
	put_tray(fd, 1, in);
	FUZZ_CHECK(nt_collect_each(fd, nt_ranks_keep, &ranks, &err) == 0);
	nt_ranks_sort(&ranks);
	nt_step_read_init(&read, &arguments);
	for (size_t i = 0; i < ranks.count; i++)
		nt_step_read_add(&read, &ranks.item[i], &arguments);
	FUZZ_CHECK(read.sum.unusable >= trays.refused);
	check_sum(&read.sum, read.calibrated ? &read.calibration : NULL);
	nt_step_read_fini(&read);
	nt_ranks_fini(&ranks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };

	if (size > 0 && data[0] == 2) {
		in.at++;
		in.left--;
		check_spooled(&in);
	} else if (size > 0 && data[0] == 3) {
		in.at++;
		in.left--;
		check_trays(&in);
	} else {
		check_records(&in);
	}
	return 0;
}

FUZZ_TEXT_TARGET("\"v\":1", "\"job\":12", "\"step\":0", "\"communicators\":[", "\"keys\":[",
		 "\"coll\":", "\"AllReduce\"", "\"RING/LL128\"", "\"TREE/SIMPLE/4ch\"", "\"AUTO\"",
		 "\"state\":", "\"committed\"", "\"exploring\"", "\"joining\"", "\"rejected\"",
		 "\"kept\"", "\"counted\"", "\"observed\"", "\"why\":\"\\u001b[2J\"",
		 "\"marker\":", "null", "{}", "[]", "\"\"", "\"launch\":\"p\"",
		 "\"sampled\":[{\"coll\":\"AllReduce\",\"ring\":true,\"calls\":[7,90.5,0.1]}]",
		 "\"fabric\":\"socket\"", "\"driver\":\"550\"", "\x01", "\"{\"", "\"\\\\\"")
