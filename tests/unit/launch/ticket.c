/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets: printed, parsed and refused; and the directory of a user's memory */
#include "tests/lib/unit.h"
#include "launch/memory-dir.h"
#include "launch/ticket.h"

static struct nt_error err;

static struct nt_ticket full_ticket(void)
{
	struct nt_ticket ticket = { .profile = "sockets-wide",
				    .observe = true,
				    .why = NT_WHY_GAIN,
				    .from = "calibrated 2026-11-22 on 2 x 1",
				    .expected = 2.8,
				    .user_env = 0xab12,
				    .left = "NCCL_BUFFSIZE NCCL_MIN_CTAS",
				    .memory = "/home/a b/.local/state/nccl-tune/memory" };

	ticket.settings.set[NT_VARIABLE_SOCKET_NTHREADS] = true;
	ticket.settings.value[NT_VARIABLE_SOCKET_NTHREADS] = 4;
	ticket.settings.set[NT_VARIABLE_MIN_NCHANNELS] = true;
	ticket.settings.value[NT_VARIABLE_MIN_NCHANNELS] = 8;
	return ticket;
}

static const char full_text[] =
	"v=1;profile=sockets-wide;why=GAIN;force=never;from=calibrated 2026-11-22 on 2 x 1;"
	"expected=2.800;set=NCCL_SOCKET_NTHREADS=4 NCCL_MIN_NCHANNELS=8;"
	"left=NCCL_BUFFSIZE NCCL_MIN_CTAS;own=0000ab12;memory=/home/a b/.local/state/nccl-tune/memory";

static void a_ticket_goes_there_and_back(void **state)
{
	struct nt_ticket ticket = full_ticket(), back;
	char text[NT_TICKET_MAX];

	assert_int_equal(nt_ticket_print(&ticket, text, sizeof(text), &err), 0);
	assert_string_equal(text, full_text);
	assert_int_equal(nt_ticket_parse(&back, text, &err), 0);
	assert_memory_equal(&back.settings, &ticket.settings, sizeof(ticket.settings));
	assert_string_equal(back.profile, ticket.profile);
	assert_true(back.observe && back.why == NT_WHY_GAIN);
	assert_true(back.expected > 2.799 && back.expected < 2.801);
	assert_int_equal(back.user_env, 0xab12);
	assert_string_equal(back.left, ticket.left);
	assert_string_equal(back.memory, ticket.memory);
	assert_int_equal(nt_ticket_print(&ticket, text, strlen(full_text), &err), -1);
}

static void a_ticket_of_the_default_says_little(void **state)
{
	struct nt_ticket ticket = { .profile = "default", .why = NT_WHY_NOTHING_KNOWN };
	char text[NT_TICKET_MAX];

	assert_int_equal(nt_ticket_print(&ticket, text, sizeof(text), &err), 0);
	assert_string_equal(text, "v=1;profile=default;why=NOTHING_KNOWN");
	ticket.settings.set[NT_VARIABLE_MIN_NCHANNELS] = true;
	ticket.settings.value[NT_VARIABLE_MIN_NCHANNELS] = 8;
	assert_int_equal(nt_ticket_print(&ticket, text, sizeof(text), &err), -1);
}

#define HEAD "v=1;profile=a;why=GAIN"

static const char *const bad[] = {
	"",
	";",
	"v=1",
	"v=1;profile=a",
	"v=2;profile=a;why=GAIN",
	"v=1;profile=A;why=GAIN",
	"v=1;profile=-a;why=GAIN",
	"v=1;profile=;why=GAIN",
	"v=1;profile=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;why=GAIN",
	"v=1;profile=a;why=gain",
	HEAD ";",
	HEAD ";;from=x",
	HEAD ";v=1",
	HEAD ";kind=best",
	HEAD ";from=",
	HEAD ";from=a\nb",
	HEAD ";from=a\"b",
	HEAD ";from=\x1b[2J",
	HEAD ";from=\xc3\xa4",
	HEAD ";expected=1",
	HEAD ";expected=-1.000",
	HEAD ";expected=nan",
	HEAD ";expected=0.000",
	HEAD ";expected=1.0001",
	HEAD ";expected=9999.000",
	HEAD ";set=LD_PRELOAD=/tmp/x.so",
	HEAD ";set=NCCL_ALGO=Ring",
	HEAD ";set=NCCL_MIN_NCHANNELS",
	HEAD ";set=NCCL_MIN_NCHANNELS=",
	HEAD ";set=NCCL_MIN_NCHANNELS=33",
	HEAD ";set=NCCL_MIN_NCHANNELS=8 NCCL_MIN_NCHANNELS=8",
	HEAD ";set=NCCL_MIN_NCHANNELS=8  NCCL_BUFFSIZE=4M",
	HEAD ";set= NCCL_MIN_NCHANNELS=8",
	HEAD ";set=NCCL_MIN_NCHANNELS=8 ",
	HEAD ";set=NCCL_MIN_NCHANNELS=32 NCCL_BUFFSIZE=32M",
	HEAD ";set=NCCL_SOCKET_NTHREADS=16 NCCL_NSOCKS_PERTHREAD=16",
	"v=1;profile=default;why=FIRST;set=NCCL_MIN_NCHANNELS=8",
	HEAD ";left=nccl",
	HEAD ";left=A=B",
	HEAD ";own=00000000",
	HEAD ";own=ab12",
	HEAD ";memory=relative",
	HEAD ";memory=/a\tb",
	HEAD ";directory=/a",
	HEAD ";from",
};

static void what_is_forged_is_refused(void **state)
{
	struct nt_ticket ticket, empty;

	memset(&empty, 0, sizeof(empty));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ticket = full_ticket();
		if (nt_ticket_parse(&ticket, bad[i], &err) == 0)
			fail_msg("taken: %s", bad[i]);
		assert_memory_equal(&ticket, &empty, sizeof(empty));
	}
	assert_int_equal(nt_ticket_parse(&ticket, HEAD, &err), 0);
}

static void length_is_bounded(void **state)
{
	static char text[1 << 16];
	struct nt_ticket ticket;

	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, HEAD ";from=", strlen(HEAD ";from="));
	assert_int_equal(nt_ticket_parse(&ticket, text, &err), -1);
	assert_non_null(strstr(err.text, "longer than 1023 bytes"));
	text[strlen(HEAD ";from=") + NT_TICKET_FROM] = '\0';
	assert_int_equal(nt_ticket_parse(&ticket, text, &err), -1);
	text[strlen(HEAD ";from=") + NT_TICKET_FROM - 1] = '\0';
	assert_int_equal(nt_ticket_parse(&ticket, text, &err), 0);
}

static void what_is_left_is_named_once_and_bounded(void **state)
{
	struct nt_ticket ticket = { .profile = "a" };
	char name[32], text[NT_TICKET_MAX];

	nt_ticket_leave(&ticket, "NCCL_BUFFSIZE");
	nt_ticket_leave(&ticket, "NCCL_BUFF NCCL_BUFFSIZE");
	nt_ticket_leave(&ticket, "NCCL_BUFFSIZE");
	assert_string_equal(ticket.left, "NCCL_BUFFSIZE NCCL_BUFF");
	for (unsigned i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "NCCL_%u", i);
		nt_ticket_leave(&ticket, name);
	}
	assert_int_equal(nt_ticket_print(&ticket, text, sizeof(text), &err), 0);
}

static void a_memory_has_a_place(void **state)
{
	char path[NT_PATH_MAX], path_of_300[301];

	setenv("NCCL_TUNE_MEMORY", "/m", 1);
	setenv("XDG_STATE_HOME", "/x", 1);
	setenv("HOME", "/h", 1);
	assert_int_equal(nt_memory_directory(path, &err), 0);
	assert_string_equal(path, "/m");
	setenv("NCCL_TUNE_MEMORY", "m", 1);
	assert_int_equal(nt_memory_directory(path, &err), -1);
	assert_non_null(strstr(err.text, "NCCL_TUNE_MEMORY='m' (want an absolute path"));
	assert_string_equal(path, "");
	setenv("NCCL_TUNE_MEMORY", "", 1);
	assert_int_equal(nt_memory_directory(path, &err), 0);
	assert_string_equal(path, "/x/nccl-tune/memory");
	setenv("XDG_STATE_HOME", "x", 1);
	assert_int_equal(nt_memory_directory(path, &err), 0);
	assert_string_equal(path, "/h/.local/state/nccl-tune/memory");
	setenv("HOME", "/h;v=1", 1);
	assert_int_equal(nt_memory_directory(path, &err), -1);
	memset(path_of_300, 'a', sizeof(path_of_300));
	path_of_300[0] = '/';
	path_of_300[300] = '\0';
	setenv("HOME", path_of_300, 1);
	assert_int_equal(nt_memory_directory(path, &err), -1);
	unsetenv("HOME");
	assert_int_equal(nt_memory_directory(path, &err), -1);
	assert_non_null(strstr(err.text, "no directory for the memory"));
}

UNIT_TESTS(a_ticket_goes_there_and_back, a_ticket_of_the_default_says_little,
	   what_is_forged_is_refused, length_is_bounded, what_is_left_is_named_once_and_bounded,
	   a_memory_has_a_place);
