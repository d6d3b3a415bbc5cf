/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.c - what srun gives a step's nodes through the user's environment: tickets, remembered
 *            arms, and what a profile has set around this step
 *
 * Input: a byte that says which, then the text.
 */
#include <string.h>
#include "contract/coll.h"
#include "contract/warm.h"
#include "launch/measure/request.h"
#include "launch/user-env.h"
#include "launch/ticket.h"
#include "tests/fuzz/fuzz.h"

static void check_ticket(const char *text)
{
	char out[NT_TICKET_MAX], again[NT_TICKET_MAX];
	struct nt_ticket ticket, read;
	struct nt_error err = { "" };

	if (nt_ticket_parse(&ticket, text, &err) < 0) {
		fuzz_check_plain(err.text, strlen(err.text));
		return;
	}
	FUZZ_CHECK(nt_settings_check(&ticket.settings, NULL) == 0);
	FUZZ_CHECK(nt_ticket_print(&ticket, out, sizeof(out), &err) == 0);
	fuzz_check_plain(out, strcspn(out, "/")); /* a user's home may have any letters */
	for (const char *at = out; *at; at++)
		FUZZ_CHECK((unsigned char)*at >= ' ' && *at != 127);
	FUZZ_CHECK(nt_ticket_parse(&read, out, &err) == 0);
	FUZZ_CHECK(nt_ticket_print(&read, again, sizeof(again), &err) == 0);
	FUZZ_CHECK(strcmp(out, again) == 0);
	for (int i = 0; i < 8; i++)
		nt_ticket_leave(&ticket, nt_variable_get((unsigned)i)->name);
	if (nt_ticket_print(&ticket, out, sizeof(out), &err) == 0)
		FUZZ_CHECK(nt_ticket_parse(&read, out, &err) == 0);
}

static void check_request(const char *text)
{
	static char out[NT_CAL_REQUEST_MAX], again[NT_CAL_REQUEST_MAX];
	static struct nt_cal_request request, read;
	struct nt_error err = { "" };

	if (nt_cal_request_parse(&request, text, &err) < 0) {
		fuzz_check_plain(err.text, strlen(err.text));
		return;
	}
	for (unsigned i = 0; i < request.profiles; i++)
		FUZZ_CHECK(nt_settings_check(&request.profile[i].settings, NULL) == 0);
	FUZZ_CHECK(nt_cal_request_print(&request, out, sizeof(out), &err) == 0);
	fuzz_check_plain(out, strlen(out));
	FUZZ_CHECK(nt_cal_request_parse(&read, out, &err) == 0);
	FUZZ_CHECK(nt_cal_request_print(&read, again, sizeof(again), &err) == 0);
	FUZZ_CHECK(strcmp(out, again) == 0);
}

static void check_warm(const char *text)
{
	static struct nt_warm warm;
	char out[NT_WARM_TEXT_MAX];
	struct nt_error err;

	if (nt_warm_parse(&warm, text, &err) < 0)
		return;
	FUZZ_CHECK(warm.count <= NT_WARM_MAX);
	for (unsigned i = 0; i < warm.count; i++) {
		const struct nt_warm_key *key = &warm.key[i];

		FUZZ_CHECK(key->arm == NT_ARM_BASELINE || nt_arm_valid(key->arm));
		FUZZ_CHECK(nt_warm_find(&warm, key->ranks, key->nodes, key->coll,
					nt_band(key->bytes)) == key->arm);
	}
	/* The text is strict: there is one for each value. */
	FUZZ_CHECK(nt_warm_print(&warm, out, sizeof(out), &err) == 0);
	FUZZ_CHECK(strcmp(out, text) == 0);
	(void)nt_warm_hash(&warm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size == 0)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	switch (data[0] % 4) {
	case 0: check_ticket(text); break;
	case 1: check_warm(text); break;
	case 3: check_request(text); break;
	default:
		(void)nt_variable_launched(text, "NCCL_SOCKET_NTHREADS", "2");
		(void)nt_variable_launched(text, "NCCL_BUFFSIZE", "");
	}
	free(text);
	return 0;
}

FUZZ_TEXT_TARGET("v=1;", "profile=", "default", "why=GAIN", "why=", "from=", "expected=2.8",
		 "set=", "NCCL_SOCKET_NTHREADS=2", "NCCL_NSOCKS_PERTHREAD=4", "NCCL_BUFFSIZE=4M",
		 "seconds=50;procs=4;token=0123456789abcdef0123456789abcdef;address=n1",
		 "calls=AllReduce:65536:1.5,", "split=stride:4", "library=/",
		 "profile=wide NCCL_CROSS_NIC=1", "left=", "memory=/home/a", "force=never",
		 "calibration=1", "own=", ";", "v=1 nccl=", "fabric=socket",
		 "fingerprint=00f3a0b1c2d3e4f5", "8r2n.AllReduce.262144=TREE/SIMPLE", "/4ch",
		 "=AUTO", " ", "AllGather", "ReduceScatter", "Broadcast", "RING/LL128")
