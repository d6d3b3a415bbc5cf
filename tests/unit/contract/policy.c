/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* policy.c - both text forms, printed and parsed, and every kind of mistake */
#include "tests/lib/unit.h"
#include "contract/policy.h"

static void option_form_round_trips(void **state)
{
	static const char *const texts[] = {
		"off",
		"observe",
		"bandit",
		"policy",
		"profile,reward=period",
		"bandit,launch=auto,calibrate=30",
		"policy,launch=sockets-wide",
		"bandit,min_gain=8",
		"bandit,min_gain=2.5,alpha=0.001",
		"bandit,screen_blocks=4,confirm_blocks=16,min_calls=1,join_timeout=5,agree_timeout=7,graphs=never",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct nt_error err = { "" };
		struct nt_policy policy;
		char out[NT_POLICY_MAX];

		nt_policy_default(&policy);
		assert_int_equal(nt_policy_parse_option(&policy, texts[i], &err), 0);
		assert_int_equal(nt_policy_format_option(&policy, out, sizeof(out)), 0);
		assert_string_equal(out, texts[i]);
	}
}

static void bad_options_name_what_is_accepted(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "no mode (want off, observe, bandit, policy or profile)" },
		{ "on", "unknown mode 'on' (want off, observe, bandit, policy or profile)" },
		{ "Bandit", "unknown mode 'Bandit'" },
		{ "bandit,", "'' is not key=value" },
		{ "bandit,min_gain", "'min_gain' is not key=value" },
		{ "bandit,gain=5", "unknown setting 'gain=5' (want min_gain alpha" },
		{ "bandit,min_gain=5,min_gain=6", "min_gain is given twice" },
		{ "bandit,min_gain=", "bad min_gain '' (want 0 to 90 percent)" },
		{ "bandit,min_gain=91", "bad min_gain '91'" },
		{ "bandit,min_gain=-1", "bad min_gain '-1'" },
		{ "bandit,min_gain=5%", "bad min_gain '5%'" },
		{ "bandit,min_gain=1.2345678", "bad min_gain" },
		{ "bandit,alpha=0", "bad alpha '0' (want 0.000001 to 0.5)" },
		{ "bandit,min_calls=1e3", "bad min_calls '1e3'" },
		{ "bandit,min_calls=99999999999999999999", "bad min_calls" },
		{ "bandit,graphs=no", "unknown graphs 'no' (want may or never)" },
		{ "bandit,mode=off", "mode is given twice" },
		{ "bandit,launch=",
		  "bad launch '' (want off, auto or the name of a launch profile)" },
		{ "bandit,launch=Wide", "bad launch 'Wide'" },
		{ "bandit,launch=-x", "bad launch '-x'" },
		{ "bandit,launch=a,launch=b", "launch is given twice" },
		{ "bandit,launch=abcdefghijklmnopqrstuvwxyz0123456", "bad launch" },
		{ "bandit,calibrate=3601",
		  "bad calibrate '3601' (want auto, off or 1 to 3600 seconds)" },
		{ "bandit,calibrate=30m", "bad calibrate '30m'" },
		{ "bandit,min_calls=3s", "bad min_calls '3s'" },
		{ "bandit,dir=/tmp", "unknown setting 'dir=/tmp'" },
		{ "bandid",
		  "unknown mode 'bandid' (want off, observe, bandit, policy or profile)" },
		{ "bandit,min_gian=5", "unknown setting 'min_gian=5' (want min_gain" },
		{ "bandit,protocols=", "bad protocols '' (want all, or some joined by +" },
		{ "bandit,protocols=ll+", "bad protocols 'll+'" },
		{ "bandit,protocols=all+ll", "bad protocols" },
		{ "bandit,protocols=LL", "bad protocols" },
		{ "bandit,algorithms=rings",
		  "bad algorithms 'rings' (want all, or some joined by + "
		  "of tree, ring, collnet_direct" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_error err = { "" };
		struct nt_policy policy;

		nt_policy_default(&policy);
		assert_int_equal(nt_policy_parse_option(&policy, cases[i].text, &err), -1);
		if (!strstr(err.text, cases[i].says))
			fail_msg("'%s' says: %s", cases[i].text, err.text);
	}
}

static void seconds_may_be_written_with_their_unit(void **state)
{
	struct nt_policy policy;

	nt_policy_default(&policy);
	assert_string_equal(policy.launch, "off");
	assert_int_equal(policy.calibrate_s, NT_CALIBRATE_AUTO);
	assert_int_equal(nt_policy_parse_option(
				 &policy, "bandit,launch=auto,calibrate=30s,recheck=5s", NULL),
			 0);
	assert_string_equal(policy.launch, "auto");
	assert_int_equal(policy.calibrate_s, 30);
	assert_int_equal(policy.recheck_s, 5);
	assert_int_equal(nt_policy_parse_option(&policy, "bandit,calibrate=off", NULL), 0);
	assert_int_equal(policy.calibrate_s, 0);
	assert_int_equal(nt_policy_parse_option(&policy, "bandit,calibrate=auto", NULL), 0);
	assert_int_equal(policy.calibrate_s, NT_CALIBRATE_AUTO);
	assert_int_equal(nt_policy_parse_option(&policy, "bandit,calibrate=-1", NULL), -1);
	assert_int_equal(nt_calibrate_auto_s(1), 60);
	assert_int_equal(nt_calibrate_auto_s(2), 60);
	assert_int_equal(nt_calibrate_auto_s(64), 135);
	assert_int_equal(nt_policy_parse_option(&policy, "policy,launch=wide", NULL), 0);
	assert_string_equal(policy.launch, "wide");
	assert_int_equal(policy.mode, NT_MODE_POLICY);
}

static void sets_forbid_pairs(void **state)
{
	struct nt_policy policy;
	char out[NT_POLICY_MAX];

	nt_policy_default(&policy);
	assert_int_equal(nt_policy_forbidden(&policy), 0);
	assert_int_equal(nt_policy_parse_option(&policy, "bandit,protocols=simple+ll", NULL), 0);
	assert_int_equal(nt_policy_forbidden(&policy), 02222222);
	assert_int_equal(nt_policy_parse_option(&policy, "bandit,algorithms=ring", NULL), 0);
	assert_int_equal(nt_policy_forbidden(&policy), 07777727);
	assert_int_equal(nt_policy_format_option(&policy, out, sizeof(out)), 0);
	assert_string_equal(out, "bandit,algorithms=ring,protocols=ll+simple");
	assert_int_equal(
		nt_policy_parse_option(&policy, "bandit,algorithms=all,protocols=all", NULL), 0);
	assert_int_equal(nt_policy_forbidden(&policy), 0);
	assert_int_equal(nt_policy_parse_option(&policy, "bandit,ll128=on", NULL), 0);
	assert_int_equal(nt_policy_forbidden(&policy), 0);
	assert_int_equal(nt_policy_parse_option(&policy, "bandit,ll128=off", NULL), 0);
	assert_int_equal(nt_policy_forbidden(&policy), 02222222);
}

static void option_lies_over_the_site_default(void **state)
{
	struct nt_policy policy;

	nt_policy_default(&policy);
	assert_int_equal(nt_policy_parse_option(&policy, "observe,min_gain=9", NULL), 0);
	assert_int_equal(nt_policy_parse_option(&policy, "bandit,alpha=0.05", NULL), 0);
	assert_int_equal(policy.mode, NT_MODE_BANDIT);
	assert_int_equal(policy.min_gain_micro, 9000000);
	assert_int_equal(policy.alpha_micro, 50000);
}

static void task_form_round_trips(void **state)
{
	struct nt_node_step place = { .shm = "/proc/12/fd/100",
				      .node = "n1",
				      .fingerprint = 0xdeadbeef01,
				      .job = 12,
				      .step = 4294967291u,
				      .flags = 5 };
	struct nt_node_step back;
	struct nt_policy policy, parsed;
	struct nt_error err = { "" };
	char text[NT_POLICY_MAX];

	nt_policy_default(&policy);
	assert_int_equal(nt_policy_parse_option(&policy, "bandit,min_gain=2.5,launch=auto", &err),
			 0);
	assert_int_equal(nt_policy_format_task(&policy, &place, text, sizeof(text), &err), 0);
	assert_int_equal(nt_policy_parse_task(&parsed, &back, text, &err), 0);
	assert_memory_equal(&parsed, &policy, sizeof(policy));
	assert_string_equal(back.shm, place.shm);
	assert_string_equal(back.node, place.node);
	assert_true(back.fingerprint == place.fingerprint && back.job == place.job &&
		    back.step == place.step && back.flags == place.flags);
}

static void damaged_task_forms_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"mode=bandit",
		"bandit",
		"mode=bandit,shm=/x,node=n",
		"mode=bandit,mode=off",
		"nonsense",
		"mode=bandit,fingerprint=xyz",
		"mode=bandit,id=1",
		"mode=bandit,id=1.2.3",
		"mode=bandit,flags=-1",
		"mode=bandit,node=",
		"mode=bandit,unknown=1",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct nt_policy policy;
		struct nt_node_step place;

		assert_int_equal(nt_policy_parse_task(&policy, &place, texts[i], NULL), -1);
	}
}

static void a_comma_in_a_path_is_refused(void **state)
{
	struct nt_node_step place = { .shm = "/run/a,b", .node = "n1" };
	struct nt_policy policy;
	char text[NT_POLICY_MAX];

	nt_policy_default(&policy);
	assert_int_equal(nt_policy_format_task(&policy, &place, text, sizeof(text), NULL), -1);
	snprintf(place.shm, sizeof(place.shm), "/run/a");
	assert_int_equal(nt_policy_format_task(&policy, &place, text, 40, NULL), -1);
}

static void the_hash_follows_the_settings_alone(void **state)
{
	struct nt_policy a, b;

	nt_policy_default(&a);
	nt_policy_default(&b);
	assert_int_equal(nt_policy_hash(&a), nt_policy_hash(&b));
	b.min_calls++;
	assert_int_not_equal(nt_policy_hash(&a), nt_policy_hash(&b));
	b = a;
	assert_int_equal(nt_policy_parse_option(&b, "off,launch=auto", NULL), 0);
	assert_int_not_equal(nt_policy_hash(&a), nt_policy_hash(&b));
}

UNIT_TESTS(option_form_round_trips, bad_options_name_what_is_accepted,
	   seconds_may_be_written_with_their_unit, sets_forbid_pairs,
	   option_lies_over_the_site_default, task_form_round_trips, damaged_task_forms_are_refused,
	   a_comma_in_a_path_is_refused, the_hash_follows_the_settings_alone);
