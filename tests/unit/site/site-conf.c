/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nccl-tune.conf: valid files, and every kind of mistake, each with its line. */
#include "site/conf.h"
#include "contract/finding.h"

#include "tests/lib/unit.h"
#include "lib/append.h"

static struct nt_conf conf;

static int parse(const char *text, struct nt_error *err)
{
	return nt_conf_parse(&conf, "f", text, strlen(text), err);
}

static const char whole[] = "# all of it\n"
			    "[site]\n"
			    "tuning = on\n"
			    "mode = observe\n"
			    "min_gain=5 ; a comment\n"
			    "modes = off, observe bandit\n"
			    "lock = alpha reward\n"
			    "protocols = ll simple\n"
			    "budget_max = 10\n"
			    "calls_max = 500\n"
			    "extra_max = 1000\n"
			    "calibrate_max = 30s\n"
			    "record = file:/var/log/nt/\n"
			    "memory_max = 0\n"
			    "pmix = default\n"
			    "\n"
			    "[partition gpu]\n"
			    "keys = min_gain budget\n"
			    "[partition physics]\n"
			    "[partition long]\n"
			    "tuning = off\n";

static void a_whole_file(void **state)
{
	const struct nt_conf_section *site = &conf.section[0], *gpu;
	struct nt_error err = { "" };

	assert_int_equal(parse(whole, &err), 0);
	assert_true(conf.present);
	assert_int_equal(conf.count, 4);
	assert_int_equal(site->policy.mode, NT_MODE_OBSERVE);
	assert_int_equal(site->setting_line[0], 4);
	assert_int_equal(site->policy.min_gain_micro, 5000000);
	assert_int_equal(site->limit[NT_LIMIT_OFF], 0);
	assert_int_equal(site->limit[NT_LIMIT_MODES], 7);
	assert_int_equal(site->limit[NT_LIMIT_LOCKED],
			 1u << nt_setting_find("alpha", 5) | 1u << nt_setting_find("reward", 6));
	assert_int_equal(site->limit[NT_LIMIT_PROTOCOLS], 5);
	assert_int_equal(site->limit[NT_LIMIT_BUDGET], 10000000);
	assert_int_equal(site->limit[NT_LIMIT_CALLS], 500);
	assert_int_equal(site->limit[NT_LIMIT_EXTRA], 1000);
	assert_int_equal(site->limit[NT_LIMIT_CALIBRATE], 30);
	assert_false(conf.sinks.admincomment);
	assert_string_equal(conf.sinks.directory, "/var/log/nt");
	assert_int_equal(conf.memory_mib, 0);
	assert_true(conf.pmix);
	gpu = nt_conf_find(&conf, "gpu");
	assert_non_null(gpu);
	assert_int_equal(gpu->line, 17);
	/* The mode is locked only by its own name. */
	assert_int_equal(gpu->limit[NT_LIMIT_LOCKED] & 1, 0);
	assert_int_equal(gpu->limit[NT_LIMIT_LOCKED] >> nt_setting_find("budget", 6) & 1, 0);
	assert_int_equal(gpu->limit[NT_LIMIT_LOCKED] >> nt_setting_find("alpha", 5) & 1, 1);
	/* An empty section counts. */
	assert_non_null(nt_conf_find(&conf, "physics"));
	assert_null(nt_conf_find(&conf, "cpu"));
	assert_int_equal(nt_conf_find(&conf, "long")->limit[NT_LIMIT_OFF], 1);
}

static void an_empty_file_says_nothing(void **state)
{
	static const char *const texts[] = { "", "\n\n", "# only\n; comments", "[site]\n",
					     "  # indented\n\t\n" };

	for (size_t i = 0; i < LENGTH(texts); i++) {
		struct nt_error err = { "" };

		if (parse(texts[i], &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(conf.count, 1);
		assert_int_equal(conf.memory_mib, NT_CONF_MEMORY_MIB);
		assert_int_equal(conf.section[0].limit_line[NT_LIMIT_MODES], 0);
	}
}

static void places_have_defaults(void **state)
{
	struct nt_error err;

	nt_conf_init(&conf);
	assert_string_equal(conf.site.plugin, NT_LIBDIR "/libnccl-tune.so");
	assert_string_equal(conf.site.recordd, NT_LIBEXECDIR "/nt-recordd");
	assert_string_equal(conf.site.rundir, NT_RUN_DIR);
	assert_string_equal(conf.site.spooldir, NT_SPOOL_DIR);
	assert_string_equal(conf.site.profiles, NT_DATADIR "/profiles.conf");
	assert_string_equal(conf.site.site_memory, NT_SYSCONFDIR "/nccl-tune/memory.jsonl");
	assert_true(conf.sinks.admincomment && !conf.sinks.directory[0]);
	assert_false(conf.pmix);
	assert_int_equal(parse("[site]\nplugin = /a/b.so\nrecordd = /c\nrundir = /run/x//\n"
			       "spooldir = /s\nprofiles = /p\nsite_memory = /m\n",
			       &err),
			 0);
	assert_string_equal(conf.site.plugin, "/a/b.so");
	assert_string_equal(conf.site.recordd, "/c");
	assert_string_equal(conf.site.rundir, "/run/x");
	assert_string_equal(conf.site.spooldir, "/s");
	assert_string_equal(conf.site.profiles, "/p");
	assert_string_equal(conf.site.site_memory, "/m");
}

static void findings_are_switched(void **state)
{
	struct nt_error err;

	assert_int_equal(parse("", &err), 0);
	assert_int_equal(conf.findings, NT_FINDINGS_ALL);
	assert_int_equal(parse("[site]\nfindings = all -left\n", &err), 0);
	assert_int_equal(conf.findings, NT_FINDINGS_ALL & ~(1u << NT_FINDING_LEFT));
	assert_int_equal(parse("[site]\nfindings = all -moon\n", &err), -1);
	assert_non_null(strstr(err.text, "'-moon' is no finding"));
}

/* The last byte of a file need not be the end of a line. */
static void keys_and_lock_add_up(void **state)
{
	static const char *const texts[] = { "[site]\nkeys = alpha\nlock = mode",
					     "[site]\nlock = mode\nkeys = alpha" };
	struct nt_error err;

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(parse(texts[i], &err), 0);
		assert_int_equal(conf.section[0].limit[NT_LIMIT_LOCKED],
				 ((UINT64_C(1) << NT_SETTING_COUNT) - 1) &
					 ~(UINT64_C(1) << nt_setting_find("alpha", 5)));
	}
	assert_int_equal(parse("[site]\nlock = all\n", &err), 0);
	assert_int_equal(conf.section[0].limit[NT_LIMIT_LOCKED],
			 (UINT64_C(1) << NT_SETTING_COUNT) - 1);
	assert_int_equal(parse("[site]\nkeys = none\n", &err), 0);
	assert_int_equal(conf.section[0].limit[NT_LIMIT_LOCKED],
			 (UINT64_C(1) << NT_SETTING_COUNT) - 2);
}

/* Also after passing them on a command line. */
static void records_have_at_most_two_places(void **state)
{
	static const char text[] = "[site]\nrecord = admincomment, file:/var/a+b/\n";
	char word[NT_SINKS_TEXT];
	struct nt_sinks again;
	struct nt_error err;

	assert_int_equal(parse(text, &err), 0);
	assert_true(conf.sinks.admincomment);
	assert_string_equal(conf.sinks.directory, "/var/a+b");
	assert_string_equal(nt_sinks_text(&conf.sinks, word), "admincomment,file:/var/a+b");
	assert_int_equal(nt_sinks_parse(&again, word, &err), 0);
	assert_memory_equal(&again, &conf.sinks, sizeof(again));
	assert_int_equal(parse("[site]\nrecord = file:/r\n", &err), 0);
	assert_string_equal(nt_sinks_text(&conf.sinks, word), "file:/r");
	assert_int_equal(parse("[site]\nrecord = none\n", &err), 0);
	assert_true(nt_sinks_none(&conf.sinks));
	assert_string_equal(nt_sinks_text(&conf.sinks, word), "none");
}

static const struct {
	const char *text, *says;
} mistakes[] = {
	{ "mode = bandit\n", "f:1: a key before the first section (want [site])" },
	{ "[site]\nmin_gian = 3\n", "f:2: unknown key 'min_gian' (want tuning, modes," },
	{ "[site]\nxyzzy = 3\n", "f:2: unknown key 'xyzzy' (want tuning, modes, lock, keys," },
	{ "[site]\n\n\nmin_gain = 91\n", "f:4: bad min_gain '91' (want 0 to 90 percent)" },
	{ "[site]\nmin_gain =\n", "f:2: bad min_gain ''" },
	{ "[site]\nmin_gain\n", "f:2: want [section] or key = value" },
	{ "[site]\nmin_gain: 3\n", "f:2: want [section] or key = value" },
	{ "[site]\nmin_gain = 3\nmin_gain = 4\n",
	  "f:3: duplicate min_gain in this section, first in line 2" },
	{ "[site]\nmodes = off\nmodes = off\n",
	  "f:3: modes: duplicate modes in this section, first in line 2" },
	{ "[site]\nlock = reward\nlock = alpha\n",
	  "f:3: lock: duplicate lock in this section, first in line 2" },
	{ "[site]\nkeys = reward\nkeys = alpha\n",
	  "f:3: keys: duplicate keys in this section, first in line 2" },
	{ "[site]\nmode = bandid\n", "f:2: unknown mode 'bandid' (want off, observe, bandit, "
				     "policy or profile)" },
	{ "[site]\nmodes = off obsrve\n", "f:2: modes: 'obsrve' (want off, observe, bandit, policy "
					  "and profile, joined by +)" },
	{ "[site]\nmode = bandit\nmodes = observe\n",
	  "f:2: mode bandit is not in the modes of line 3" },
	{ "[site]\nmodes = observe\n[partition a]\nmode = bandit\n",
	  "f:4: mode bandit is not in the modes of line 2" },
	{ "[site]\ntuning = no\n", "f:2: tuning: 'no' (want on or off)" },
	{ "[site]\nlock = min_gian\n", "f:2: lock: unknown setting 'min_gian' (want min_gain" },
	{ "[site]\nlock =\n", "f:2: lock: no setting (want some, or all)" },
	{ "[site]\nll128 = yes\n", "f:2: ll128: unknown ll128 'yes' (want off, auto or on)" },
	{ "[site]\nprotocols = ll129\n", "f:2: protocols: bad protocols 'll129' (want all, or some "
					 "joined by + of ll, ll128, simple" },
	{ "[site]\nalgorithms =\n", "f:2: algorithms: bad algorithms ''" },
	{ "[site]\nbudget_max = 0\n", "f:2: budget_max: '0' (want 0 to 100 percent but not 0" },
	{ "[site]\nbudget_max = 101\n", "f:2: budget_max: '101'" },
	{ "[site]\ncalibrate_max = 3601\n", "f:2: calibrate_max: '3601' (want 0 to 3600 seconds)" },
	{ "[site]\ncalibrate_max = auto\n", "f:2: calibrate_max: 'auto' (want 0 to 3600 seconds)" },
	{ "[site]\ncalibrate_max = -1\n", "f:2: calibrate_max: '-1' (want 0 to 3600 seconds)" },
	{ "[site]\nrecord = extra\n",
	  "f:2: record: 'extra' (want admincomment, file:DIRECTORY or both, or none)" },
	{ "[site]\nrecord = none file:/a\n", "f:2: record: 'none' (want admincomment" },
	{ "[site]\nrecord = file:/a file:/b\n", "f:2: record: 'file:/b' (want admincomment" },
	{ "[site]\nrecord =\n", "f:2: record: '' (want admincomment" },
	{ "[site]\nrecord = file:var\n", "f:2: record: 'var' (want an absolute path" },
	{ "[site]\nrecord_dir = var\n", "f:2: record_dir: 'var' (want an absolute path" },
	{ "[site]\nrecord_max = -1\n", "f:2: record_max: '-1' (want 0 to 1048576)" },
	{ "[partition a]\nrecord_dir = /var\n", "f:2: record_dir belongs in [site]" },
	{ "[site]\nmemory_max = 33\n", "f:2: memory_max: '33' (want 0 to 32)" },
	{ "[site]\nmemory_max = 1x\n", "f:2: memory_max: '1x' (want 0 to 32)" },
	{ "[site]\npmix = yes\n", "f:2: pmix: 'yes' (want default or ask)" },
	{ "[partition a]\npmix = ask\n", "f:2: pmix belongs in [site]" },
	{ "[site]\n[site]\n", "f:2: duplicate section [site] in this file, first in line 1" },
	{ "[partition a]\n\n[partition a]\n",
	  "f:3: duplicate section [partition a] in this file, first in line 1" },
	{ "[sites]\n", "f:1: section [sites] (want [site] or [partition NAME])" },
	{ "[partition]\n", "f:1: section [partition]" },
	{ "[account a]\n", "f:1: section [account a] (want [site] or [partition NAME]" },
	{ "[partition a]\nrundir = /r\n", "f:2: rundir belongs in [site]" },
	{ "[site]\nrundir = run\n", "f:2: rundir: 'run' (want an absolute path" },
	{ "[site]\nplugin = /a,b\n", "f:2: plugin: '/a,b' (want an absolute path" },
	{ "[site gpu]\n", "f:1: section [site gpu]" },
	{ "[partition a b]\n", "f:1: section [partition a b]" },
	{ "[]\n", "f:1: section []" },
	{ "[site\n", "f:1: want [section] with a ']' at its end" },
	{ "[site] x\n", "f:1: want [section] and nothing after it" },
	{ "[site]\n mode = off\n", "f:2: the line begins with a blank" },
	{ "[site]\nmode = off\r\n", "f:2: the line has a character that is not printable ASCII" },
	{ "\xef\xbb\xbf[site]\n", "f:1: the line has a character that is not printable ASCII" },
	{ "[site]\nmode = off # x\n", "f:2: unknown mode 'off # x'" },
	/* A tab is a blank, and no message has one. */
	{ "[site]\nmode\t=\toff\tx\n", "f:2: unknown mode 'off x'" },
	{ "[partition\ta\tb]\n", "f:1: section [partition a b]" },
};

static void mistakes_name_their_line_and_what_is_accepted(void **state)
{
	for (size_t i = 0; i < LENGTH(mistakes); i++) {
		struct nt_error err = { "" };

		if (parse(mistakes[i].text, &err) == 0)
			fail_msg("taken: %s", mistakes[i].text);
		if (strncmp(err.text, mistakes[i].says, strlen(mistakes[i].says)) != 0)
			fail_msg("'%s' says: %s", mistakes[i].text, err.text);
	}
}

/* Lines that inih would cut or merge. */
static void long_lines_names_and_files_are_refused(void **state)
{
	static char text[NT_INI_FILE_MAX + 2];
	struct nt_error err;

	snprintf(text, sizeof(text), "[site]\n#%0*d\nmode = off\n", NT_INI_LINE_MAX - 1, 0);
	assert_int_equal(parse(text, &err), 0);
	snprintf(text, sizeof(text), "[site]\n#%0*d\nmode = off\n", NT_INI_LINE_MAX, 0);
	assert_int_equal(parse(text, &err), -1);
	assert_string_equal(err.text, "f:2: the line is longer than 190 bytes");
	snprintf(text, sizeof(text), "[partition %0*d]\n", NT_INI_NAME_MAX - 10, 0);
	assert_int_equal(parse(text, &err), 0);
	snprintf(text, sizeof(text), "[partition %0*d]\n", NT_INI_NAME_MAX - 9, 0);
	assert_int_equal(parse(text, &err), -1);
	assert_string_equal(err.text, "f:1: the name of a section is longer than 48 bytes");
	memset(text, '\n', sizeof(text));
	assert_int_equal(nt_conf_parse(&conf, "f", text, NT_INI_FILE_MAX, &err), 0);
	assert_int_equal(nt_conf_parse(&conf, "f", text, NT_INI_FILE_MAX + 1, &err), -1);
	assert_string_equal(err.text, "f: longer than 65535 bytes");
	/* A NUL does not end the file. */
	assert_int_equal(nt_conf_parse(&conf, "f", "[site]\n\0mode", 12, &err), -1);
}

static void too_many_sections_are_refused(void **state)
{
	char text[4096] = "";
	struct nt_error err;

	for (unsigned i = 0; i < NT_CONF_SECTIONS; i++)
		nt_append(text, sizeof(text), "[partition q%u]\n", i);
	assert_int_equal(parse(text, &err), -1);
	assert_string_equal(err.text, "f:64: more than 64 sections");
}

UNIT_TESTS(a_whole_file, an_empty_file_says_nothing, places_have_defaults, findings_are_switched,
	   keys_and_lock_add_up, records_have_at_most_two_places,
	   mistakes_name_their_line_and_what_is_accepted, long_lines_names_and_files_are_refused,
	   too_many_sections_are_refused);
