/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The long form of a record: written parts are readable; damaged, endless and foreign ones are
 * reported. */
#include <stdbool.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "record/longset.h"
#include "record/longwrite.h"
#include "tests/unit/scratch.h"

/* In a shell: cd TOP, then this. */
static int shell(const char *command)
{
	char line[512];

	snprintf(line, sizeof(line), "cd '%s' && { %s; }", top, command);
	return system(line);
}

static struct nt_long_head head_of(const char *step, const char *node)
{
	struct nt_long_head head;

	nt_fields_clear(&nt_long_fields, &head);
	head.version = NT_LONG_VERSION;
	snprintf(head.cluster, sizeof(head.cluster), "c");
	head.job = 12;
	snprintf(head.step, sizeof(head.step), "%s", step);
	snprintf(head.node, sizeof(head.node), "%s", node);
	head.nodes = 2;
	head.uid = 1000;
	head.final = true;
	head.written_s = 1763769600;
	return head;
}

/* A rank of a communicator on one node. */
static char *record_of(const char *node, const char *comm, int rank, const char *state)
{
	char *text;

	assert_true(
		asprintf(
			&text,
			"{\"v\":1,\"job\":12,\"step\":0,\"task\":%d,\"node\":\"%s\",\"mode\":\"bandit\","
			"\"nccl\":22809,\"comms\":[{\"id\":\"%s\",\"rank\":%d,\"ranks\":2,\"nodes\":1,"
			"\"state\":\"agreed\",\"why\":\"\",\"keys\":[{\"coll\":\"AllReduce\","
			"\"bytes\":262144,\"state\":\"%s\",\"auto\":\"RING/SIMPLE\","
			"\"arm\":\"TREE/SIMPLE\",\"us\":[280.1,173.2],"
			"\"calls\":10000}]}]}\n",
			rank, node, comm, rank, state) > 0);
	return text;
}

static int open_top(void)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void save(const struct nt_long_head *as, const char *comm)
{
	struct nt_long_head head = *as;
	struct nt_long_out out;
	struct nt_error err;
	int fd = open_top();

	assert_int_equal(nt_long_begin(&out, 1 << 20, &err), 0);
	assert_true(nt_long_add(&out, NT_LONG_FINGERPRINT, "\"ab\"", 4));
	for (int rank = 0; rank < 2; rank++) {
		char *text = record_of(head.node, comm, rank, "committed");

		assert_true(nt_long_add(&out, NT_LONG_RANK, text, strlen(text)));
		free(text);
	}
	assert_int_equal(nt_long_save(&out, fd, &head, &err), 0);
	nt_long_end(&out);
	close(fd);
}

static int complaints;
static char complaint[256];

static void complain(void *argument, const char *path, const char *why)
{
	(void)argument;
	(void)path;
	complaints++;
	snprintf(complaint, sizeof(complaint), "%s", why);
}

static int count_line(void *argument, struct nt_text name, struct nt_text value,
		      struct nt_error *err)
{
	size_t *count = argument;

	(void)value;
	(void)err;
	*count += nt_text_is(name, NT_LONG_RANK);
	return 0;
}

static int read_part(const char *name, size_t *records, struct nt_error *err)
{
	struct nt_long_head head;
	char path[256];
	int fd, rc;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	*records = 0;
	rc = nt_long_read(fd, &head, count_line, records, NULL, err);
	close(fd);
	assert_true(rc < 0 || head.job == 12);
	return rc;
}

static void what_is_written_is_read(void **state)
{
	const struct nt_long_head head = head_of("0", "n1");
	struct nt_error err;
	size_t records;
	struct stat status;
	char path[128];

	save(&head, "a");
	assert_int_equal(read_part("0.n1.jsonl.gz", &records, &err), 0);
	assert_int_equal(records, 2);
	snprintf(path, sizeof(path), "%s/0.n1.jsonl.gz", top);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	/* The previous one is removed, and nothing unfinished is left. */
	save(&head, "a");
	assert_int_equal(shell("[ \"$(ls -A | wc -l)\" = 1 ]"), 0);
	/* gzip can read it. */
	assert_int_equal(shell("[ \"$(zcat 0.n1.jsonl.gz | wc -l)\" = 4 ] && "
			       "zcat 0.n1.jsonl.gz | head -n 1 | grep -q '\"records\":2'"),
			 0);
}

static void what_has_no_room_is_counted(void **state)
{
	struct nt_long_head head = head_of("0", "n1");
	char *large = malloc(NT_RANK_RECORD_MAX);
	unsigned seed = 7;
	struct nt_long_out out;
	struct nt_error err;
	size_t records, at;
	int fd = open_top();

	/* Data that does not compress. */
	at = (size_t)snprintf(large, 16, "{\"v\":\"");
	while (at < 55000) {
		seed = seed * 1103515245 + 12345;
		large[at++] = (char)('0' + (seed >> 16) % 64);
	}
	for (char *c = large; c < large + at; c++)
		*c = *c == '\\' ? '_' : *c;
	memcpy(large + at, "\"}", 3);
	assert_int_equal(nt_long_begin(&out, 100000, &err), 0);
	assert_true(nt_long_add(&out, NT_LONG_RANK, large, at + 2));
	assert_true(nt_long_add(&out, NT_LONG_RANK, large, at + 2));
	assert_false(nt_long_add(&out, NT_LONG_RANK, large, at + 2));
	assert_true(nt_long_add(&out, NT_LONG_RANK, "{\"a\":\n1}", 8)); /* a short one has */
	assert_false(nt_long_add(&out, NT_LONG_RANK, "{\"a\":1", 6));
	assert_false(nt_long_add(&out, NT_LONG_RANK, "{\"a\":\"\n\"}", 9));
	assert_int_equal(nt_long_save(&out, fd, &head, &err), 0);
	assert_int_equal(head.records, 3);
	assert_int_equal(head.dropped, 1);
	assert_int_equal(head.unusable, 2);
	nt_long_end(&out);
	assert_int_equal(read_part("0.n1.jsonl.gz", &records, &err), 0);
	assert_int_equal(records, 3);
	assert_int_equal(shell("[ $(stat -c %s 0.n1.jsonl.gz) -le 100000 ]"), 0);
	close(fd);
	free(large);
}

static void damage_is_told(void **state)
{
	const struct nt_long_head head = head_of("0", "n1");
	struct nt_error err;
	size_t records;

	save(&head, "a");
	assert_int_equal(shell("head -c 300 0.n1.jsonl.gz >cut; head -c -1 0.n1.jsonl.gz >one;"
			       ": >empty; head -c 4000 /dev/zero >zeros;"
			       "{ cat 0.n1.jsonl.gz; echo x; } >more;"
			       "zcat 0.n1.jsonl.gz | head -n 3 | gzip >fewer;"
			       "zcat 0.n1.jsonl.gz | sed 1d | gzip >headless;"
			       "zcat 0.n1.jsonl.gz | sed 's/long\":1/long\":2/' | gzip >later;"
			       "zcat 0.n1.jsonl.gz | sed '3s/}$//' | gzip >broken"),
			 0);
	assert_int_equal(read_part("cut", &records, &err), -1);
	assert_non_null(strstr(err.text, "truncated after line"));
	assert_int_equal(read_part("one", &records, &err), -1);
	assert_int_equal(records, 2);
	assert_int_equal(read_part("empty", &records, &err), -1);
	assert_string_equal(err.text, "it is empty");
	assert_int_equal(read_part("zeros", &records, &err), -1);
	assert_int_equal(read_part("more", &records, &err), -1);
	assert_int_equal(records, 2);
	assert_int_equal(read_part("fewer", &records, &err), -1);
	assert_string_equal(err.text, "it has 1 records of 2");
	assert_int_equal(read_part("headless", &records, &err), -1);
	assert_int_equal(read_part("later", &records, &err), -1);
	assert_string_equal(err.text, "it is of version 2 (this nccl-tune reads version 1)");
	assert_int_equal(read_part("broken", &records, &err), -1);
	assert_string_equal(err.text, "line 3 is not a JSON object");
}

/* A megabyte that expands to a gigabyte; endless lines, or endlessly many; a later version. */
static void nothing_grows_without_end(void **state)
{
	struct nt_error err;
	size_t records;

	assert_int_equal(
		shell("h='{\"nccl_tune_long\":1,\"cluster\":\"c\",\"job\":12,\"step\":\"0\",\"node\":\"n\","
		      "\"final\":true,\"new\":[1]}';"
		      "{ echo \"$h\"; head -c 1000000 /dev/zero | tr '\\0' ' '; } | gzip -1 >wide;"
		      "{ echo \"$h\"; yes \"{\\\"x\\\":\\\"$(head -c 60000 /dev/zero | tr '\\0' x)\\\"}\" |"
		      "  head -n 1300; } | gzip -1 >long;"
		      "{ echo \"$h\"; yes '{\"x\":1}' | head -n 5000; } | gzip -1 >many;"
		      "{ echo \"$h\"; echo '{\"x\":{\"y\":1}}'; echo '{}'; } | gzip >new"),
		0);
	assert_int_equal(read_part("wide", &records, &err), -1);
	assert_string_equal(err.text, "line 2 is too long");
	assert_int_equal(read_part("long", &records, &err), -1);
	assert_string_equal(err.text, "it holds more than 69206016 bytes");
	assert_int_equal(read_part("many", &records, &err), -1);
	assert_string_equal(err.text, "it has more than 4352 lines");
	assert_int_equal(read_part("new", &records, &err), 0);
}

/* Each node has a communicator of its own that the others do not know. */
static void parts_are_put_together(void **state)
{
	struct nt_long_head heads[] = { head_of("0", "n1"), head_of("0", "n2"),
					head_of("batch", "n1"), head_of("0", "n1") };
	struct nt_summary summary;
	struct nt_long_set set;
	struct nt_error err;

	heads[3].run = 1; /* the job was started again */
	for (size_t i = 0; i < 3; i++)
		save(&heads[i], heads[i].node);
	assert_int_equal(shell("mkfifo 0.n3.jsonl.gz; ln -s /dev/zero 0.n4.jsonl.gz;"
			       "mkdir 0.n5.jsonl.gz; echo >notes"),
			 0);
	nt_long_set_init(&set);
	assert_int_equal(nt_long_set_add_named(&set, "/dev/null", &err), -1);
	assert_int_equal(set.count, 0);
	set.complain = complain;
	complaints = 0;
	assert_int_equal(nt_long_set_add(&set, top, &err), 0);
	assert_int_equal(complaints, 3);
	nt_long_set_sort(&set, 12);
	assert_int_equal(set.count, 3);
	nt_summary_init(&summary);
	assert_int_equal(nt_long_set_summary(&set, &summary, NULL, NULL, &err), 0);
	assert_int_equal(summary.step_count, 2);
	assert_string_equal(summary.steps[0].name, "0");
	assert_string_equal(summary.steps[1].name, "batch");
	assert_int_equal(summary.steps[0].heard, 2);
	assert_false(nt_summary_damaged(&summary));
	assert_int_equal(summary.comm_count, 3);
	nt_summary_fini(&summary);
	assert_int_equal(nt_long_set_summary(&set, &summary, "batch", NULL, &err), 0);
	assert_int_equal(summary.step_count, 1);
	nt_summary_fini(&summary);
	nt_long_set_fini(&set);
	/* Of a later run only what it wrote counts; of other jobs and users nothing. */
	save(&heads[3], "b");
	assert_int_equal(shell("[ -e 0.n1.r1.jsonl.gz ]"), 0);
	assert_int_equal(nt_long_set_add(&set, top, &err), 0);
	nt_long_set_sort(&set, 12);
	assert_int_equal(set.count, 1);
	assert_int_equal(set.parts[0].head.run, 1);
	nt_long_set_fini(&set);
	/* An earlier run has all its parts, where it is asked for. */
	assert_int_equal(nt_long_set_add(&set, top, &err), 0);
	nt_long_set_take_run(&set, 0);
	nt_long_set_sort(&set, 12);
	assert_int_equal(set.count, 3);
	assert_int_equal(set.parts[0].head.run, 0);
	nt_long_set_sort(&set, 13);
	assert_int_equal(set.count, 0);
	nt_long_set_fini(&set);
}

/* In a shared directory another user may have created them. */
static void what_is_another_users_is_left_out(void **state)
{
	struct nt_long_head head = head_of("0", "n1");
	struct nt_long_set set;
	struct nt_error err;
	char link[128];

	save(&head, head.node);
	nt_long_set_init(&set);
	set.complain = complain;
	set.owner[0] = geteuid() + 1;
	set.owners = 1;
	complaints = 0;
	assert_int_equal(nt_long_set_add_named(&set, top, &err), -1);
	assert_non_null(strstr(err.text, "it belongs to another user"));
	assert_int_equal(nt_long_set_add(&set, top, &err), 0);
	assert_int_equal(complaints, 2);
	assert_int_equal(set.count, 0);
	set.owner[set.owners++] = geteuid();
	assert_int_equal(nt_long_set_add_named(&set, top, &err), 0);
	assert_int_equal(set.count, 1);
	snprintf(link, sizeof(link), "%s/link", top);
	assert_int_equal(symlink(top, link), 0);
	assert_int_equal(nt_long_set_add_named(&set, link, &err), -1);
	/* Replaced since. */
	set.owners = 1;
	complaints = 0;
	assert_int_equal(nt_long_set_each(&set, NULL, NULL, &err), 0);
	assert_int_equal(complaints, 1);
	nt_long_set_fini(&set);
}

/* Each of them is within its bounds. */
static void all_parts_together_are_bounded(void **state)
{
	struct nt_long_head heads[] = { head_of("0", "n1"), head_of("1", "n1"),
					head_of("2", "n1") };
	struct nt_summary summary;
	struct nt_long_set set;
	struct nt_error err;

	for (size_t i = 0; i < 3; i++)
		save(&heads[i], heads[i].node);
	nt_long_set_init(&set);
	assert_int_equal(nt_long_set_add(&set, top, &err), 0);
	nt_long_set_sort(&set, 12);
	set.text_max = 1;
	nt_summary_init(&summary);
	assert_int_equal(nt_long_set_summary(&set, &summary, NULL, NULL, &err), 0);
	assert_int_equal(summary.step_count, 3);
	assert_true(nt_summary_damaged(&summary));
	assert_int_equal(summary.steps[0].heard, 1);
	assert_true(summary.steps[1].heard < 1 && summary.steps[2].heard < 1);
	nt_summary_fini(&summary);
	nt_long_set_fini(&set);
}

static void a_damaged_part_is_in_the_summary(void **state)
{
	const struct nt_long_head heads[] = { head_of("0", "n1"), head_of("0", "n2") };
	struct nt_summary summary;
	struct nt_long_set set;
	struct nt_error err;

	save(&heads[0], "a");
	save(&heads[1], "b");
	assert_int_equal(shell("head -c -9 0.n2.jsonl.gz >x && mv x 0.n2.jsonl.gz"), 0);
	nt_long_set_init(&set);
	assert_int_equal(nt_long_set_add(&set, top, &err), 0);
	nt_long_set_sort(&set, 0);
	nt_summary_init(&summary);
	assert_int_equal(nt_long_set_summary(&set, &summary, NULL, NULL, &err), 0);
	assert_true(nt_summary_damaged(&summary));
	assert_int_equal(summary.comm_count, 2);
	assert_non_null(strstr(summary.remarks[0].text,
			       "a part of the long form, 0.n2.jsonl.gz: truncated after line"));
	nt_summary_fini(&summary);
	nt_long_set_fini(&set);
}

/* A part written while the step ran is not better than the final record. */
static void an_early_part_does_not_hide_the_end(void **state)
{
	struct nt_long_head head = head_of("0", "n1");
	static const char text[] = "{\"nccl_tune\":{\"v\":1,\"0\":{\"mode\":\"bandit\"}}}";
	struct nt_summary known, summary;
	struct nt_long_set set;
	struct nt_error err;

	head.final = false;
	save(&head, "a");
	nt_long_set_init(&set);
	assert_int_equal(nt_long_set_add(&set, top, &err), 0);
	nt_summary_init(&summary);
	assert_int_equal(nt_long_set_summary(&set, &summary, NULL, NULL, &err), 0);
	assert_int_equal(summary.step_count, 1);
	assert_int_equal(summary.steps[0].early, 1);
	nt_summary_fini(&summary);
	nt_summary_init(&known);
	assert_int_equal(nt_summary_parse(&known, text, sizeof(text) - 1, NULL, &err), 0);
	assert_int_equal(nt_long_set_summary(&set, &summary, NULL, &known, &err), 0);
	assert_int_equal(summary.step_count, 0);
	nt_summary_fini(&known);
	nt_summary_fini(&summary);
	nt_long_set_fini(&set);
}

static void directories_are_made_or_refused(void **state)
{
	char path[160];
	struct nt_error err;
	bool made;
	int fd, job_fd;

	snprintf(path, sizeof(path), "%s/a/b/records", top);
	assert_int_equal(nt_long_open(path, false, &err), -1);
	fd = nt_long_open(path, true, &err);
	assert_true(fd >= 0);
	assert_int_equal(shell("[ \"$(stat -c %a a a/b a/b/records | sort -u)\" = 700 ]"), 0);
	job_fd = nt_long_open_job(fd, "c.12", &made, &err);
	assert_true(job_fd >= 0 && made);
	close(job_fd);
	job_fd = nt_long_open_job(fd, "c.12", &made, &err);
	assert_true(job_fd >= 0 && !made);
	close(job_fd);
	assert_int_equal(shell("cd a/b/records && ln -s /tmp c.13 && mkfifo c.14 && : >c.15"), 0);
	assert_int_equal(nt_long_open_job(fd, "c.13", &made, &err), -1);
	assert_int_equal(nt_long_open_job(fd, "c.14", &made, &err), -1);
	assert_int_equal(nt_long_open_job(fd, "c.15", &made, &err), -1);
	close(fd);
	/* In a site's directory it must belong to the user. */
	assert_int_equal(shell("mkdir site && ln -s /tmp site/1000 && mkfifo site/1001"), 0);
	snprintf(path, sizeof(path), "%s/site/1000", top);
	assert_int_equal(nt_long_open(path, false, &err), -1);
	assert_non_null(strstr(err.text, "it is no directory"));
	snprintf(path, sizeof(path), "%s/site/1001", top);
	assert_int_equal(nt_long_open(path, false, &err), -1);
	if (geteuid() != 0)
		return;
	assert_int_equal(shell("mkdir site/1002 && chown 1002 site/1002"), 0);
	snprintf(path, sizeof(path), "%s/site/1002", top);
	assert_int_equal(nt_long_open(path, false, &err), -1);
	assert_non_null(strstr(err.text, "belongs to another user"));
}

static void the_oldest_jobs_go(void **state)
{
	int fd = open_top();

	assert_int_equal(
		shell("for j in 1 2 3 4; do mkdir c.$j; head -c 40000 /dev/zero >c.$j/0.n.jsonl.gz;"
		      "  : >c.$j/.0.m.jsonl.gz.tmp; touch -d 2020-01-01 c.$j/.0.m.jsonl.gz.tmp;"
		      "  touch -d 2026-01-0$j c.$j; done; mkdir c.x notes; ln -s / c.9; touch c.4/mine"),
		0);
	assert_int_equal(nt_long_trim(fd, "c.4", "0.n.jsonl.gz", 200000), 0);
	assert_int_equal(shell("[ \"$(echo c.?)\" = 'c.1 c.2 c.3 c.4 c.9 c.x' ]"), 0);
	assert_int_equal(nt_long_trim(fd, "c.4", "0.n.jsonl.gz", 100000), 4);
	assert_int_equal(shell("[ \"$(echo c.?)\" = 'c.3 c.4 c.9 c.x' ] && [ -d notes ]"), 0);
	/* A job that exceeds the limit alone loses its oldest parts, except the newest. */
	assert_int_equal(shell("for s in 1 2 3; do cp c.4/0.n.jsonl.gz c.4/$s.n.jsonl.gz;"
			       "touch -d 2026-01-0$s c.4/$s.n.jsonl.gz; done"),
			 0);
	assert_int_equal(nt_long_trim(fd, "c.4", "1.n.jsonl.gz", 100000), 5);
	assert_int_equal(shell("[ \"$(cd c.4; echo *)\" = '0.n.jsonl.gz 1.n.jsonl.gz mine' ]"), 0);
	assert_int_equal(shell("[ ! -e c.3 ]"), 0);
	close(fd);
}

/* The number of files is also limited. */
static void small_files_count_as_blocks(void **state)
{
	int fd = open_top();

	assert_int_equal(shell("mkdir s.1 s.2; for n in 0 1 2 3 4 5 6 7; do"
			       " echo x >s.1/0.$n.jsonl.gz; echo x >s.2/0.$n.jsonl.gz; done;"
			       " touch -d 2026-01-01 s.1"),
			 0);
	assert_int_equal(nt_long_trim(fd, "s.2", "0.0.jsonl.gz", 40000), 8);
	assert_int_equal(shell("[ ! -e s.1 ] && [ \"$(ls s.2 | wc -l)\" = 8 ]"), 0);
	close(fd);
}

static void names_are_plain(void **state)
{
	struct nt_long_head head = head_of("0+1", "a/../b c");
	char name[NT_LONG_NAME_MAX];

	nt_long_part_name(name, &head);
	assert_string_equal(name, "0+1.a_.._b_c.jsonl.gz");
	assert_true(nt_long_part_is(name));
	head.run = 2;
	nt_long_part_name(name, &head);
	assert_string_equal(name, "0+1.a_.._b_c.r2.jsonl.gz");
	nt_long_job_name(name, "../x", 7);
	assert_string_equal(name, "_._x.7");
	assert_false(nt_long_part_is(".0.n.jsonl.gz.tmp"));
	assert_false(nt_long_part_is(".jsonl.gz"));
}

UNIT_TESTS_EACH(make_top, remove_top, what_is_written_is_read, what_has_no_room_is_counted,
		damage_is_told, nothing_grows_without_end, parts_are_put_together,
		what_is_another_users_is_left_out, all_parts_together_are_bounded,
		a_damaged_part_is_in_the_summary, an_early_part_does_not_hide_the_end,
		directories_are_made_or_refused, the_oldest_jobs_go, small_files_count_as_blocks,
		names_are_plain);
