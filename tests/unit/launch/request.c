/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What a step's tasks are asked to measure: printed, parsed and refused */
#include "tests/lib/unit.h"
#include "contract/coll.h"
#include "launch/measure/request.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define HEAD "v=1;seconds=50;procs=4;token=" TOKEN ";address=10.0.0.1"
#define WIDE "sockets-wide NCCL_SOCKET_NTHREADS=2 NCCL_NSOCKS_PERTHREAD=4"

static struct nt_error err;

static const char full_text[] = HEAD
	";library=/opt/nccl 2/libnccl.so.2;split=stride:4;"
	"calls=AllReduce:16777216:150,AllGather:65536:3,AllToAll:4096:2;"
	"profile=" WIDE ";profile=channels NCCL_MIN_NCHANNELS=8";

static struct nt_cal_request full_request(void)
{
	struct nt_cal_request request = { .seconds = 50,
					  .procs = 4,
					  .token = TOKEN,
					  .address = "10.0.0.1",
					  .library = "/opt/nccl 2/libnccl.so.2",
					  .split = "stride:4",
					  .calls = 3,
					  .call = { { NT_ALLREDUCE, 16777216, 150 },
						    { NT_ALLGATHER, 65536, 3 },
						    { NT_P2P_ALLTOALL, 4096, 2 } },
					  .profiles = 2 };

	assert_int_equal(nt_cal_profile_parse(&request.profile[0], WIDE), 0);
	assert_int_equal(nt_cal_profile_parse(&request.profile[1], "channels NCCL_MIN_NCHANNELS=8"),
			 0);
	return request;
}

static void a_request_goes_there_and_back(void **state)
{
	struct nt_cal_request request = full_request(), back;
	char text[NT_CAL_REQUEST_MAX];

	assert_int_equal(nt_cal_request_print(&request, text, sizeof(text), &err), 0);
	assert_string_equal(text, full_text);
	assert_int_equal(nt_cal_request_parse(&back, text, &err), 0);
	assert_int_equal(back.profiles, 2);
	assert_memory_equal(back.profile, request.profile, sizeof(back.profile));
	assert_int_equal(back.calls, 3);
	assert_int_equal(back.call[1].coll, NT_ALLGATHER);
	assert_int_equal(back.call[1].calls, 3);
	assert_int_equal(back.seconds, 50);
	assert_int_equal(back.procs, 4);
	assert_string_equal(back.token, TOKEN);
	assert_string_equal(back.address, "10.0.0.1");
	assert_string_equal(back.library, request.library);
	assert_string_equal(back.split, "stride:4");
	assert_int_equal(nt_cal_request_print(&request, text, strlen(full_text), &err), -1);
	assert_string_equal(err.text, "no room for the request");
}

static void what_is_not_there_is_none(void **state)
{
	struct nt_cal_request request;
	char text[NT_CAL_REQUEST_MAX];

	assert_int_equal(nt_cal_request_parse(&request, HEAD ";library=", &err), -1);
	assert_int_equal(nt_cal_request_parse(&request, HEAD, &err), 0);
	assert_int_equal(request.calls + request.profiles, 0);
	assert_int_equal(nt_cal_request_print(&request, text, sizeof(text), &err), 0);
	assert_string_equal(text, HEAD);
}

static void a_collective_is_found_in_any_case(void **state)
{
	struct nt_cal_request request;

	assert_int_equal(nt_cal_request_parse(&request, HEAD ";calls=allreduce:4:0", &err), 0);
	assert_int_equal(request.call[0].coll, NT_ALLREDUCE);
}

/* The largest request there can be fits. */
static void the_largest_request_fits(void **state)
{
	struct nt_cal_request request = full_request();
	char text[NT_CAL_REQUEST_MAX];

	memset(request.library, '/', sizeof(request.library) - 1);
	memset(request.address, 'a', sizeof(request.address) - 1);
	request.calls = NT_CAL_CALLS;
	for (unsigned i = 0; i < NT_CAL_CALLS; i++)
		request.call[i] = (struct nt_cal_call){ NT_REDUCESCATTER, NT_CAL_BYTES_MOST - 4 * i,
							999999999999.125 };
	request.profiles = NT_CAL_PROFILES;
	for (unsigned i = 0; i < NT_CAL_PROFILES; i++) {
		struct nt_cal_profile *profile = &request.profile[i];

		memset(profile, 0, sizeof(*profile));
		snprintf(profile->name, sizeof(profile->name), "%s%02u",
			 "a-profile-with-a-very-long-nam", i);
		/* Every variable, with its longest value that may stand beside the others. */
		for (unsigned v = 0; v < NT_VARIABLE_COUNT; v++) {
			profile->settings.set[v] = true;
			profile->settings.value[v] = nt_variable_get(v)->largest;
		}
		profile->settings.value[NT_VARIABLE_SOCKET_NTHREADS] = 1;
		profile->settings.value[NT_VARIABLE_NSOCKS_PERTHREAD] = 2;
		profile->settings.value[NT_VARIABLE_BUFFSIZE] = 1 << 20;
	}
	if (nt_cal_request_print(&request, text, sizeof(text), &err) < 0)
		fail_msg("%s", err.text);
}

#define MEMBERS "v, seconds, procs, token, address, library, split, calls, profile"
#define UNKNOWN "a member is unknown or too long (want " MEMBERS ")"
#define BAD(key, want) key " is malformed or not allowed (want " want ")"
#define CALLS BAD("calls", "at most 24 different calls, COLLECTIVE:BYTES:CALLS")
#define PROFILE BAD("profile", "at most 16 different profiles with settings that are allowed")
#define TOKENS BAD("token", "32 hexadecimal digits")
#define ADDRESS BAD("address", "a host's name or address")
#define SPLIT BAD("split", "block:K or stride:K")

static const struct {
	const char *text, *says;
} bad[] = {
	{ "", UNKNOWN },
	{ "v=1", "seconds is missing" },
	{ "v=1;seconds=1;procs=1;token=" TOKEN, "address is missing" },
	{ "v=2", BAD("v", "1") },
	{ HEAD ";", UNKNOWN },
	{ HEAD ";;", UNKNOWN },
	{ HEAD ";colour=red", UNKNOWN },
	{ HEAD ";seconds", UNKNOWN },
	{ HEAD ";seconds=5", "seconds is given twice" },
	{ HEAD ";split=block:2;split=block:2", "split is given twice" },
	{ HEAD ";library=/a\tb", "byte 90 is not printable" },
	{ HEAD ";library=/\xc3\xa4", "byte 89 is not printable" },
	{ HEAD ";library=lib", BAD("library", "an absolute path of at most 511 bytes") },
	{ "v=1;seconds=0", BAD("seconds", "1 to 3600") },
	{ "v=1;seconds=3601", BAD("seconds", "1 to 3600") },
	{ "v=1;seconds=-1", BAD("seconds", "1 to 3600") },
	{ "v=1;seconds=", BAD("seconds", "1 to 3600") },
	{ "v=1;procs=65", BAD("procs", "0 to 64") },
	{ "v=1;procs=4 ", BAD("procs", "0 to 64") },
	{ "v=1;token=0123", TOKENS },
	{ "v=1;token=0123456789ABCDEF0123456789abcdef", TOKENS },
	{ "v=1;token=" TOKEN "0", TOKENS },
	{ "v=1;address=", ADDRESS },
	{ "v=1;address=a b", ADDRESS },
	{ "v=1;address=-h", ADDRESS },
	{ "v=1;address=$(x)", ADDRESS },
	{ HEAD ";split=4", SPLIT },
	{ HEAD ";split=block:0", SPLIT },
	{ HEAD ";split=ring:4", SPLIT },
	{ HEAD ";split=block:5000", SPLIT },
	{ HEAD ";calls=AllReduce", CALLS },
	{ HEAD ";calls=AllReduce:4", CALLS },
	{ HEAD ";calls=Send:4:1", CALLS },
	{ HEAD ";calls=Gather:4:1", CALLS },
	{ HEAD ";calls=AllReduce:0:1", CALLS },
	{ HEAD ";calls=AllReduce:6:1", CALLS },
	{ HEAD ";calls=AllReduce:2147483648:1", CALLS },
	{ HEAD ";calls=AllReduce:4:-1", CALLS },
	{ HEAD ";calls=AllReduce:4:1e9", CALLS },
	{ HEAD ";calls=AllReduce:4:1.", CALLS },
	{ HEAD ";calls=AllReduce:4:1.2345", CALLS },
	{ HEAD ";calls=AllReduce:4:1:1", CALLS },
	{ HEAD ";calls=AllReduce:4:1,", CALLS },
	{ HEAD ";calls=AllReduce:4:1,allreduce:4:2", CALLS },
	{ HEAD ";profile=wide", PROFILE },
	{ HEAD ";profile=wide ", PROFILE },
	{ HEAD ";profile=Wide NCCL_BUFFSIZE=1048576", PROFILE },
	{ HEAD ";profile=default", PROFILE },
	{ HEAD ";profile=default NCCL_BUFFSIZE=1048576", PROFILE },
	{ HEAD ";profile=wide LD_PRELOAD=/tmp/x.so", PROFILE },
	{ HEAD ";profile=wide NCCL_DEBUG=TRACE", PROFILE },
	{ HEAD ";profile=wide NCCL_BUFFSIZE=1", PROFILE },
	{ HEAD ";profile=wide NCCL_BUFFSIZE=1048576 NCCL_BUFFSIZE=1048576", PROFILE },
	{ HEAD ";profile=wide NCCL_BUFFSIZE=1048576  NCCL_CROSS_NIC=1", PROFILE },
	{ HEAD ";profile=wide NCCL_SOCKET_NTHREADS=16 NCCL_NSOCKS_PERTHREAD=16", PROFILE },
	{ HEAD ";profile=wide NCCL_CROSS_NIC=1;profile=wide NCCL_CROSS_NIC=2", PROFILE },
};

static void each_mistake_is_named(void **state)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct nt_cal_request request, empty = { 0 };

		memset(&request, 0xa5, sizeof(request));
		if (nt_cal_request_parse(&request, bad[i].text, &err) == 0)
			fail_msg("accepted: %s", bad[i].text);
		assert_string_equal(err.text, bad[i].says);
		assert_memory_equal(&request, &empty, sizeof(empty));
	}
}

/* A member with more parts than there may be, or a longer one. */
static void nothing_is_without_bounds(void **state)
{
	static char text[2 * NT_CAL_REQUEST_MAX];
	struct nt_cal_request request;
	size_t used;

	used = (size_t)snprintf(text, sizeof(text), HEAD ";calls=AllReduce:4:1");
	for (unsigned n = 2; n < 30; n++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ",AllReduce:%u:1",
					 4 * n);
	assert_int_equal(nt_cal_request_parse(&request, text, &err), -1);
	assert_string_equal(err.text, CALLS);
	used = (size_t)snprintf(text, sizeof(text), HEAD);
	for (unsigned n = 0; n < 17; n++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 ";profile=p%u NCCL_CROSS_NIC=1", n);
	assert_int_equal(nt_cal_request_parse(&request, text, &err), -1);
	assert_string_equal(err.text, PROFILE);
	used = (size_t)snprintf(text, sizeof(text), HEAD ";library=");
	memset(text + used, '/', 512);
	text[used + 512] = '\0';
	assert_int_equal(nt_cal_request_parse(&request, text, &err), -1);
	assert_string_equal(err.text, BAD("library", "an absolute path of at most 511 bytes"));
	memset(text + used, '/', 4096);
	assert_int_equal(nt_cal_request_parse(&request, text, &err), -1);
	assert_string_equal(err.text, UNKNOWN);
	memset(text, 'a', sizeof(text) - 1);
	assert_int_equal(nt_cal_request_parse(&request, text, &err), -1);
	assert_string_equal(err.text, "longer than 12287 bytes");
}

static void a_profile_is_its_name_and_settings(void **state)
{
	struct nt_cal_profile profile;
	char text[256];

	assert_int_equal(nt_cal_profile_parse(&profile, "default"), 0);
	assert_string_equal(nt_cal_profile_text(&profile, text, sizeof(text)), "default");
	assert_int_equal(nt_cal_profile_parse(&profile, WIDE), 0);
	assert_string_equal(nt_cal_profile_text(&profile, text, sizeof(text)), WIDE);
	assert_int_equal(nt_cal_profile_parse(&profile, "default NCCL_CROSS_NIC=1"), -1);
	assert_int_equal(nt_cal_profile_parse(&profile, ""), -1);
}

UNIT_TESTS(a_request_goes_there_and_back, what_is_not_there_is_none,
	   a_collective_is_found_in_any_case, the_largest_request_fits, each_mistake_is_named,
	   nothing_is_without_bounds, a_profile_is_its_name_and_settings);
