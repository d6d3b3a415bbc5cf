/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A step's launch profile, as srun sees to it. */
#include "spank/srun.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <slurm/slurm.h>
#include "launch/own.h"
#include "spank/launch.h"
#include "spank/slurm_compat.h"
#include "spank/topology.h"

#define LEAST_S 5 /* a calibration of less tells nothing */
#define GRACE_S 20 /* for its last step to end, and its table */
#define ALLOWED_MAX (NT_CONF_PROFILES * NT_LAUNCH_NAME)
#define SHARE 100 /* of the job's time limit, if nobody asked for it */

/* srun has copied its environment by now, and adds to the copy what is set: an empty one counts as
 * none. */
static void clear(const char *variable)
{
	if (getenv(variable))
		setenv(variable, "", 1);
}

void nt_srun_clear(void)
{
	clear(NT_ENV_TICKET);
	clear(NT_ENV_SLURM_WARM);
}

/* Nodes without the plugin have what srun exports: a name that cannot be opened, which other nodes
 * replace. */
void nt_srun_topology(const struct nt_policy *policy)
{
	if (policy && policy->mode != NT_MODE_OFF && policy->topology == NT_SWITCH_ON) {
		setenv(NT_ENV_TOPOLOGY, "1", 1);
		setenv(NT_ENV_SYSTEM_FILE, NT_TOPOLOGY_NOWHERE, 0);
	} else {
		clear(NT_ENV_TOPOLOGY);
	}
}

/* ---- the step */

static int64_t number_of(const char *variable, int64_t otherwise)
{
	const char *value = getenv(variable);
	char *end;
	int64_t number;

	if (!value || value[0] < '0' || value[0] > '9')
		return otherwise;
	errno = 0;
	number = strtoll(value, &end, 10);
	return errno || *end ? otherwise : number;
}

/* The environment tells the job's hosts; a step on fewer nodes has some of them. */
static char *hosts_of(const struct nt_srun_step *step)
{
	const char *hosts = getenv("SLURM_JOB_NODELIST");
	slurm_step_layout_t *layout;
	char *copy = NULL;

	if (!hosts)
		hosts = getenv("SLURM_NODELIST");
	if (hosts && number_of("SLURM_JOB_NUM_NODES", -1) == step->nodes)
		return strdup(hosts);
	layout = slurm_job_step_layout_get(&(slurm_step_id_t){
		.job_id = step->job,
		.step_id = step->step,
		.step_het_comp = NO_VAL,
	});
	if (layout && layout->node_list)
		copy = strdup(layout->node_list);
	if (layout)
		slurm_job_step_layout_free(layout);
	return copy ? copy : strdup("");
}

/* Seconds; 0: it has none, or nobody says. */
static int64_t time_limit_s(uint32_t job)
{
	job_info_msg_t *jobs = NULL;
	int64_t limit_s = 0;

	if (nt_slurm_load_job(&jobs, job, SHOW_ALL) != SLURM_SUCCESS)
		return 0;
	if (jobs->record_count > 0 && jobs->job_array[0].time_limit != INFINITE &&
	    jobs->job_array[0].time_limit != NO_VAL)
		limit_s = 60 * (int64_t)jobs->job_array[0].time_limit;
	slurm_free_job_info_msg(jobs);
	return limit_s;
}

/* ---- choosing */

static bool is_off(const struct nt_policy *policy)
{
	return strcmp(policy->launch, "off") == 0;
}

/* The helper lies beside nt-recordd. */
static void helper_of(const struct nt_site *site, char *out, size_t out_bytes)
{
	const char *slash = strrchr(site->recordd, '/');

	snprintf(out, out_bytes, "%.*s/%s", slash ? (int)(slash - site->recordd) : 0, site->recordd,
		 NT_LAUNCH_PROGRAM);
}

/* What the user has set, and no profile of the step around this one. */
static bool is_users(const char *name, void *context)
{
	const char *value = getenv(name);

	(void)context;
	return value && value[0] && !nt_launched(getenv(NT_ENV_LAUNCH), name, value);
}

/* slurmstepd sets them from the ticket. On a node that lacks the plugin nobody would, and NCCL
 * would start with other settings there than elsewhere: so srun sets them for its tasks, too. */
static void set_here(const char *text)
{
	struct nt_profile profile;
	struct nt_resolved resolved;
	struct nt_ticket ticket;

	if (nt_ticket_parse(&ticket, text, NULL) < 0)
		return;
	memset(&profile, 0, sizeof(profile));
	profile.settings = ticket.settings;
	nt_profile_resolve(&profile, is_users, NULL, &resolved);
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		char value[24];

		if (!resolved.apply.set[i])
			continue;
		snprintf(value, sizeof(value), "%" PRId64, resolved.apply.value[i]);
		setenv(nt_variable_get(i)->name, value, 1);
	}
}

/* With launch off there are only the arms that a policy follows, and what a profile of all arms
 * is to leave in the memory. */
static void hand_over(const struct nt_srun *srun, const struct nt_launch_answer *answer)
{
	nt_srun_clear();
	if (!is_off(srun->policy) || srun->policy->mode == NT_MODE_PROFILE) {
		setenv(NT_ENV_TICKET, answer->ticket, 1);
		set_here(answer->ticket);
	}
	if (answer->warm[0])
		setenv(NT_ENV_SLURM_WARM, answer->warm, 1);
}

static int choose(const struct nt_srun *srun, const char *helper, const struct nt_launch_ask *ask,
		  struct nt_launch_answer *answer)
{
	struct nt_error err;
	char line[512];

	if (nt_launch_choose(helper, ask, answer, &err) < 0) {
		snprintf(line, sizeof(line),
			 "no launch profile is chosen: %.200s; NCCL starts with its own settings",
			 err.text);
		srun->say(NT_SRUN_WARNING, line);
		return -1;
	}
	return 0;
}

static void say_choice(const struct nt_srun *srun, const struct nt_launch_answer *answer)
{
	char line[512];

	if (answer->trouble[0]) {
		snprintf(line, sizeof(line), "%s; it is left out of the choice", answer->trouble);
		srun->say(NT_SRUN_WARNING, line);
	}
	if (!is_off(srun->policy))
		srun->say(NT_SRUN_DETAIL, answer->text);
}

/* ---- calibrating */

/* How long one may take now; 0: none. */
static int64_t calibrate_s(const struct nt_srun *srun)
{
	int64_t limit_s = srun->policy->calibrate_s, job_s;

	if (limit_s == 0 || srun->calibrate_asked)
		return limit_s;
	job_s = time_limit_s(srun->step.job);
	if (job_s > 0 && job_s / SHARE < limit_s)
		limit_s = job_s / SHARE;
	if (limit_s >= LEAST_S)
		return limit_s;
	srun->say(NT_SRUN_DETAIL, "no calibration: it would take over 1 % of the job's time limit");
	return 0;
}

#define WORDS 18

/* The command line of a calibration on this step's nodes. */
struct words {
	unsigned count;
	char *word[WORDS + 1];
	char text[WORDS][NT_PATH_MAX];
	char profiles[ALLOWED_MAX];
};

static void add_word(struct words *words, const char *word)
{
	char *text = words->text[words->count];

	snprintf(text, NT_PATH_MAX, "%s", word);
	words->word[words->count++] = text;
}

static void add_number(struct words *words, const char *option, int64_t number, const char *unit)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64 "%s", number, unit);
	add_word(words, option);
	add_word(words, text);
}

static int run_calibration(const struct nt_srun *srun, const char *helper, int64_t limit_s,
			   struct nt_error *err)
{
	const struct nt_site *site = srun->site;
	struct words words = { .count = 0 };

	add_word(&words, site->command);
	add_word(&words, "calibrate");
	add_number(&words, "--time", limit_s, "s");
	add_number(&words, "-N", srun->step.nodes, "");
	add_number(&words, "--ntasks-per-node", srun->step.tasks / srun->step.nodes, "");
	if (nt_rules_profiles(srun->rules, ',', words.profiles, sizeof(words.profiles))) {
		add_word(&words, "--profiles");
		words.word[words.count++] = words.profiles;
	}
	add_word(&words, "--overlap"); /* the step has the job's resources already */
	if (strcmp(site->profiles, NT_SHIPPED_PROFILES) != 0) {
		add_word(&words, "--profile-file");
		add_word(&words, site->profiles);
	}
	if (access(site->site_memory, R_OK) == 0) {
		add_word(&words, "--site-memory");
		add_word(&words, site->site_memory);
	}
	return nt_launch_run(helper, words.word, limit_s + GRACE_S, err);
}

/* Once a job, whatever comes of it: that it was tried is noted first. */
static bool calibrate(const struct nt_srun *srun, const char *helper,
		      const struct nt_launch_ask *ask)
{
	int64_t limit_s = calibrate_s(srun);
	struct nt_error err;
	char line[512];
	int status;

	/* One that may measure nothing but the default tells nothing. */
	if (limit_s == 0 || (ask->allowed && !ask->allowed[0]))
		return false;
	if (nt_launch_note(helper, ask, &err) < 0) {
		snprintf(line, sizeof(line), "no calibration: %.200s", err.text);
		srun->say(NT_SRUN_WARNING, line);
		return false;
	}
	snprintf(line, sizeof(line), "calibrating for at most %" PRId64 " s before the step",
		 limit_s);
	srun->say(NT_SRUN_NEWS, line);
	status = run_calibration(srun, helper, limit_s, &err);
	if (status == 0)
		return true;
	if (status == NT_LAUNCH_LATE)
		nt_error_set(&err, "%.150s calibrate took too long and was ended",
			     srun->site->command);
	else if (status > 0)
		nt_error_set(&err, "%.150s calibrate: exit status %d", srun->site->command, status);
	snprintf(line, sizeof(line), "the calibration did not end well: %.220s", err.text);
	srun->say(NT_SRUN_WARNING, line);
	return true;
}

void nt_srun_prepare(const struct nt_srun *srun)
{
	const char *calibration = getenv(NT_ENV_CALIBRATION);
	char helper[NT_PATH_MAX + sizeof(NT_LAUNCH_PROGRAM)];
	struct nt_launch_answer answer;
	struct nt_launch_ask ask = {
		.launch = srun->policy->launch,
		.nodes = srun->step.nodes,
		.tasks = srun->step.tasks,
		.job = srun->step.job,
		.array_task = number_of("SLURM_ARRAY_TASK_ID", -1),
		.calibration = calibration && strcmp(calibration, "1") == 0,
		.profiles = srun->site->profiles,
		.site_memory = srun->site->site_memory,
	};
	char allowed[ALLOWED_MAX];
	char *hosts = hosts_of(&srun->step);

	nt_srun_clear();
	ask.allowed = nt_rules_profiles(srun->rules, '+', allowed, sizeof(allowed));
	ask.hosts = hosts ? hosts : "";
	helper_of(srun->site, helper, sizeof(helper));
	if (choose(srun, helper, &ask, &answer) == 0 &&
	    (!answer.may_calibrate || !calibrate(srun, helper, &ask) ||
	     choose(srun, helper, &ask, &answer) == 0)) {
		say_choice(srun, &answer);
		hand_over(srun, &answer);
	}
	free(hosts);
}
