/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of a process: which program reads them, what it may print, what a report makes of it. */
#include "recordd/stack-tool.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "lib/clock.h"
#include "record/read.h"
#include "tests/lib/schema.h"
#include "tests/unit/scratch.h"

/* ---- texts */

static const char gdb_text[] = "Thread 1 (Thread 0x7f5d2f9eb740 (LWP 27749) \"t\"):\n"
			       "#0  0x00007f5d2fabd545 in clock_nanosleep () at a.c:48\n"
			       "#1  0x00007f5d2fac1d8a in sleep () from /lib/libc.so.6\n"
			       "#2  load_batch (n=...) at load.c:12\n"
			       "#3  0x0000563640c351f8 in main ()\n"
			       "\n"
			       "Thread 2 (Thread 0x7f5d2f9ea6c0 (LWP 27753) \"t\"):\n"
			       "#0  0x0000563640c3516d in f ()\n";
static const char py_text[] = "Thread 27749 (idle): \"MainThread\"\n"
			      "    get (queue.py:171)\n"
			      "    <module> (train.py:9)\n"
			      "Thread 27753 (active): \"Thread-1\"\n"
			      "    f (train.py:3)\n";

/* As it is read again. */
static struct nt_stacks kept(const struct nt_stacks *stacks, const char *text)
{
	struct nt_stacks back;
	char line[4 * NT_STACKS_BYTES];
	struct nt_text value = { line, nt_stacks_format(stacks, text, line, sizeof(line)) };
	struct nt_error err;

	assert_true(value.bytes <= NT_RANK_RECORD_MAX);
	if (nt_schema_check_text("stacks", line, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(nt_stacks_read(&back, value), 0);
	return back;
}

static struct nt_stacks of_rank(int64_t rank)
{
	struct nt_stacks stacks = { .line_array = NULL };

	nt_fields_clear(&nt_stacks_fields, &stacks);
	stacks.rank = rank;
	return stacks;
}

static void the_newest_functions_of_the_first_thread_are_told(void **state)
{
	static const struct {
		const char *text, *frames;
		size_t lines;
	} cases[] = {
		{ gdb_text, "clock_nanosleep < sleep < load_batch < main", 8 },
		{ py_text, "get (queue.py:171) < <module> (train.py:9)", 5 },
		{ "", "", 0 },
	};
	const struct nt_stacks three = of_rank(3);
	char frames[NT_STACKS_TOP];

	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct nt_stacks back = kept(&three, cases[i].text);

		assert_int_equal(back.rank, 3);
		assert_string_equal(nt_stacks_top(&back, frames), cases[i].frames);
		assert_int_equal(json_object_array_length(back.line_array), cases[i].lines);
		json_object_put(back.line_array);
	}
}

static void whatever_a_tool_prints_stays_text(void **state)
{
	static const char hostile[] = "Thread 1\n#0  \x1b[2J\"},{\"rank\":4,\"\\\\\xc2\x9b()\n\n\n";
	static const char *const lines[] = { "",
					     "{",
					     "[]",
					     "{\"rank\":\"x\"}",
					     "{\"lines\":[\"a\"]}",
					     "{\"rank\":1,\"lines\":[1]}",
					     "{\"rank\":1,\"lines\":\"a\"}" };
	static char all[NT_STACKS_BYTES + 1];
	const struct nt_stacks five = of_rank(5);
	char frames[NT_STACKS_TOP];
	struct nt_stacks back;

	for (size_t i = 0; i < LENGTH(lines); i++)
		assert_int_equal(nt_stacks_read(&back, nt_text_of(lines[i])), -1);
	for (const char *mark = "\"\n"; *mark; mark++) {
		memset(all, *mark, NT_STACKS_BYTES);
		back = kept(&five, all);
		json_object_put(back.line_array);
	}
	back = kept(&five, hostile);
	for (const char *at = nt_stacks_top(&back, frames); *at; at++)
		assert_true(*at >= ' ' && *at <= '~');
	json_object_put(back.line_array);
}

/* ---- programs */

static pid_t target;

static int begin(void **state)
{
	target = fork();
	if (target == 0) {
		for (;;)
			pause();
	}
	return target < 0 || make_top(state);
}

static int end(void **state)
{
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	return remove_top(state);
}

static void write_tool(const char *name, const char *script, mode_t mode)
{
	char path[256];

	write_file(name, script, strlen(script));
	snprintf(path, sizeof(path), "%s/%s", top, name);
	assert_int_equal(chmod(path, mode), 0);
}

static void only_programs_and_directories_of_roots_are_taken(void **state)
{
	char found[NT_PATH_MAX], directories[64];

	if (getuid() != 0)
		skip();
	snprintf(directories, sizeof(directories), "/nowhere:%s", top);
	assert_int_equal(nt_stack_find(directories, "gdb", found), -1);
	write_tool("gdb", "#!/bin/sh\n", 0775);
	assert_int_equal(nt_stack_find(directories, "gdb", found), -1);
	write_tool("gdb", "#!/bin/sh\n", 0644);
	assert_int_equal(nt_stack_find(directories, "gdb", found), -1);
	write_tool("gdb", "#!/bin/sh\n", 0755);
	assert_int_equal(nt_stack_find(directories, "gdb", found), 0);
	assert_int_equal(chmod(top, 0777), 0);
	assert_int_equal(nt_stack_find(directories, "gdb", found), -1);
	assert_int_equal(chmod(top, 0755), 0);
	assert_int_equal(chown(top, 1, 1), 0);
	assert_int_equal(nt_stack_find(directories, "gdb", found), -1);
	assert_int_equal(chown(top, 0, 0), 0);
}

static void read_target(struct nt_stacks *stacks, bool python, char **text)
{
	*stacks = of_rank(0);
	stacks->pid = target;
	nt_stack_read(stacks, top, python, text);
}

static void python_is_read_by_py_spy_and_the_rest_by_gdb(void **state)
{
	struct nt_stacks stacks;
	char *text;

	if (getuid() != 0)
		skip();
	read_target(&stacks, true, &text);
	assert_null(text);
	assert_non_null(strstr(stacks.why, "no py-spy or gdb"));
	write_tool("py-spy",
		   "#!/bin/sh\necho \"Process $4: secret\"; echo 'Thread 1 (idle)'; env\n", 0755);
	read_target(&stacks, false, &text);
	assert_null(text);
	assert_string_equal(stacks.tool, "");
	setenv("LD_PRELOAD_X", "1", 1);
	read_target(&stacks, true, &text);
	assert_string_equal(stacks.tool, "py-spy");
	assert_string_equal(stacks.why, "");
	assert_memory_equal(text, "Thread 1", 8);
	assert_null(strstr(text, "LD_PRELOAD_X"));
	free(text);
	write_tool("py-spy", "#!/bin/sh\necho 'no Python' >&2; exit 1\n", 0755);
	read_target(&stacks, true, &text);
	assert_null(text);
	assert_string_equal(stacks.why, "no Python");
	write_tool("gdb", "#!/bin/sh\necho \"Thread $8\"\n", 0755);
	read_target(&stacks, true, &text);
	assert_string_equal(stacks.tool, "gdb");
	free(text);
}

static void a_tool_that_floods_is_cut(void **state)
{
	struct nt_stacks stacks;
	char *text;

	if (getuid() != 0)
		skip();
	write_tool("gdb", "#!/bin/sh\necho Thread 1; while :; do echo '#0  main ()'; done\n", 0755);
	read_target(&stacks, false, &text);
	assert_non_null(text);
	assert_true(strlen(text) <= NT_STACKS_BYTES && strlen(text) > NT_STACKS_BYTES / 2);
	assert_memory_equal(stacks.why, "cut: ", 5);
	free(text);
}

static char state_of_target(void)
{
	char path[64], line[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)target);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	fclose(file);
	return strrchr(line, ')')[2];
}

/* As a gdb that is killed while it attaches does in one case of ten. */
static void a_tool_that_hangs_is_killed_and_the_process_goes_on(void **state)
{
	const int64_t began_ms = nt_clock_ms();
	struct nt_stacks stacks;
	char *text;

	if (getuid() != 0)
		skip();
	write_tool("gdb", "#!/bin/sh\necho Thread 1\nkill -STOP $8\nsleep 60\n", 0755);
	read_target(&stacks, false, &text);
	assert_true(nt_clock_ms() - began_ms < NT_STACK_MS + 2000);
	assert_string_equal(stacks.why, "cut: timed out");
	assert_string_equal(text, "Thread 1\n");
	assert_int_equal(state_of_target(), 'S');
	free(text);
}

/* ---- processes */

static void only_a_running_process_with_the_memory_is_read(void **state)
{
	const int fd = memfd_create("nt-test", MFD_CLOEXEC), other = memfd_create("b", MFD_CLOEXEC);
	struct nt_error err;
	struct stat memory;
	bool python;
	void *map;

	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fstat(fd, &memory), 0);
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_int_equal(nt_stack_look(getpid(), &memory, &python, &err), 0);
	assert_false(python);
	assert_true(nt_stack_permitted(getpid()));
	assert_int_equal(nt_stack_look(target, &memory, &python, &err), -1);
	assert_non_null(strstr(err.text, "another PID namespace"));
	assert_int_equal(fstat(other, &memory), 0);
	assert_int_equal(nt_stack_look(getpid(), &memory, &python, &err), -1);
	munmap(map, 4096);
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	assert_int_equal(nt_stack_look(target, &memory, &python, &err), -1);
	assert_false(nt_stack_permitted(target));
	close(fd);
	close(other);
}

static void a_stopped_process_is_not_read(void **state)
{
	const int fd = memfd_create("nt-test", MFD_CLOEXEC);
	struct nt_error err;
	struct stat memory;
	bool python;
	void *map;

	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fstat(fd, &memory), 0);
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	target = fork();
	if (target == 0) {
		for (;;)
			pause();
	}
	kill(target, SIGSTOP);
	assert_int_equal(waitpid(target, NULL, WUNTRACED), target);
	assert_int_equal(nt_stack_look(target, &memory, &python, &err), -1);
	assert_non_null(strstr(err.text, "is stopped, by a signal"));
	munmap(map, 4096);
	close(fd);
}

UNIT_TESTS_EACH(begin, end, the_newest_functions_of_the_first_thread_are_told,
		whatever_a_tool_prints_stays_text, only_programs_and_directories_of_roots_are_taken,
		python_is_read_by_py_spy_and_the_rest_by_gdb, a_tool_that_floods_is_cut,
		a_tool_that_hangs_is_killed_and_the_process_goes_on,
		only_a_running_process_with_the_memory_is_read, a_stopped_process_is_not_read);
