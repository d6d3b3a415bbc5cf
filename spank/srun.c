/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Choose a step's launch profile in srun, after a calibration if necessary. */
#include "spank/srun.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <slurm/slurm.h>
#include "lib/argv.h"
#include "lib/number.h"
#include "profiles/user-env.h"
#include "profiles/program.h"
#include "spank/ask-launch.h"
#include "spank/slurm_compat.h"
#include "spank/topology-env.h"

#define LEAST_S 10 /* the shortest useful calibration */
#define GRACE_S 20 /* for its last step to end, and for its table */
#define STOP_S 10 /* for it to end after SIGTERM */
#define ALLOWED_MAX (NT_CONF_PROFILES * NT_LAUNCH_NAME)
#define SHARE 100 /* it takes at most 1/SHARE of the job's time, unless it was asked for */

/* srun has copied its environment and only adds to the copy, so an empty value means none. */
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

/* For nodes without the plugin: a file that cannot be opened. Other nodes replace it. */
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

static bool has_all_nodes(const struct nt_srun_step *step)
{
	const char *value = getenv("SLURM_JOB_NUM_NODES");
	uint64_t nodes;

	return value && nt_number_parse(value, 0, INT64_MAX, &nodes) == 0 && nodes == step->nodes;
}

/* The environment has the job's hosts; a step on fewer nodes has only some of them. */
static char *hosts_of(const struct nt_srun_step *step)
{
	const char *hosts = getenv("SLURM_JOB_NODELIST");
	slurm_step_layout_t *layout;
	char *copy = NULL;

	if (!hosts)
		hosts = getenv("SLURM_NODELIST");
	if (hosts && has_all_nodes(step))
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

/* Seconds; -1: there is no limit, or it is unknown. */
static int64_t time_left_s(uint32_t job)
{
	job_info_msg_t *jobs = NULL;
	int64_t left_s = -1;

	if (nt_slurm_load_job(&jobs, job, SHOW_ALL) != SLURM_SUCCESS)
		return -1;
	if (jobs->record_count > 0 && jobs->job_array[0].time_limit != INFINITE &&
	    jobs->job_array[0].time_limit != NO_VAL)
		left_s = (int64_t)jobs->job_array[0].end_time - (int64_t)time(NULL);
	slurm_free_job_info_msg(jobs);
	return left_s;
}

/* A calibration would slow down the job's other steps. */
static bool has_other_steps(const struct nt_srun_step *step)
{
	job_step_info_response_msg_t *steps = NULL;
	bool found = false;

	if (nt_slurm_load_steps(&steps, step->job) != SLURM_SUCCESS)
		return false;
	for (uint32_t i = 0; i < steps->job_step_count; i++) {
		const slurm_step_id_t *other = &steps->job_steps[i].step_id;

		/* For an array's own number slurmctld returns the steps of all its tasks. */
		found = found ||
			(other->job_id == step->job && other->step_id <= SLURM_MAX_NORMAL_STEP_ID &&
			 other->step_id != step->step);
	}
	slurm_free_job_step_info_response_msg(steps);
	return found;
}

__attribute__((format(printf, 3, 4))) static void say(const struct nt_srun *srun,
						      enum nt_srun_word word, const char *format,
						      ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	srun->say(word, line);
}

/* ---- choosing */

/* Google's network plugin compares NCCL's variables with this file: NCCL fails if one differs. */
#define ENV_CHECKER "NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE"

static bool is_checked(void)
{
	const char *file = getenv(ENV_CHECKER);

	return file && file[0];
}

static bool is_off(const struct nt_policy *policy)
{
	return strcmp(policy->launch, "off") == 0 || is_checked();
}

/* Set by the user, not by a profile of the step around this one. */
static bool is_users(const char *name, void *context)
{
	const char *value = getenv(name);

	(void)context;
	return value && value[0] && !nt_launched(getenv(NT_ENV_LAUNCH), name, value);
}

/* slurmstepd sets them from the ticket, except on a node without the plugin, where NCCL would start
 * with other settings than elsewhere: so srun sets them, too. */
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

/* With launch=off there is no profile, but mode=policy gets its arms, and mode=profile a ticket
 * with the memory. */
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

	if (nt_launch_select(helper, ask, answer, &err) == 0)
		return 0;
	say(srun, NT_SRUN_WARNING,
	    "no launch profile selected: %.200s; NCCL starts with its own settings", err.text);
	return -1;
}

static void say_choice(const struct nt_srun *srun, const struct nt_launch_answer *answer)
{
	if (is_checked() && strcmp(srun->policy->launch, "off") != 0)
		srun->say(NT_SRUN_WARNING, "no launch profile: " ENV_CHECKER
					   " is set, and NCCL may fail with other variables");
	if (answer->trouble[0])
		say(srun, NT_SRUN_WARNING, "%s; it is ignored", answer->trouble);
	if (!is_off(srun->policy))
		srun->say(NT_SRUN_DETAIL, answer->text);
}

/* ---- calibrating */

/* The longest calibration now; 0: none. */
static int64_t calibrate_s(const struct nt_srun *srun, int64_t left_s)
{
	const uint64_t most_s = srun->rules->limit[NT_LIMIT_CALIBRATE];
	int64_t limit_s = srun->policy->calibrate_s;

	if (limit_s == NT_CALIBRATE_AUTO)
		limit_s = nt_calibrate_auto_s(srun->step.nodes);
	if ((uint64_t)limit_s > most_s)
		limit_s = (int64_t)most_s;
	if (limit_s == 0 || srun->calibrate_asked)
		return limit_s;
	if (left_s >= 0 && left_s / SHARE < limit_s)
		limit_s = left_s / SHARE;
	if (limit_s >= LEAST_S)
		return limit_s;
	srun->say(NT_SRUN_DETAIL, "no calibration: it would take over 1 % of the job's time");
	return 0;
}

#define add_option(words, option, ...) (nt_argv_add(words, option), nt_argv_add(words, __VA_ARGS__))

static int run_calibration(const struct nt_srun *srun, const char *helper, const char *hosts,
			   int64_t limit_s, struct nt_error *err)
{
	const struct nt_site *site = srun->site;
	struct nt_argv words = { .count = 0 };
	char profiles[ALLOWED_MAX];
	int status;

	nt_argv_add(&words, "%s", site->command);
	nt_argv_add(&words, "calibrate");
	add_option(&words, "--time", "%" PRId64 "s", limit_s);
	add_option(&words, "-N", "%" PRIu32, srun->step.nodes);
	add_option(&words, "--ntasks-per-node", "%" PRIu32, srun->step.tasks / srun->step.nodes);
	if (nt_rules_profiles(srun->rules, ',', profiles, sizeof(profiles)))
		add_option(&words, "--profiles", "%s", profiles);
	if (!has_all_nodes(&srun->step) && hosts[0]) /* others may be another step's */
		add_option(&words, "--nodelist", "%s", hosts);
	nt_argv_add(&words, "--overlap"); /* the step has the job's resources already */
	if (strcmp(site->profiles, NT_SHIPPED_PROFILES) != 0)
		add_option(&words, "--profile-file", "%s", site->profiles);
	if (access(site->site_memory, R_OK) == 0)
		add_option(&words, "--site-memory", "%s", site->site_memory);
	status = words.failed ? nt_error_set(err, "out of memory")
			      : nt_launch_run(helper, words.word, limit_s + GRACE_S, err);
	nt_argv_fini(&words);
	return status;
}

static void say_start(const struct nt_srun *srun, int64_t limit_s, int64_t left_s)
{
	char left[64] = "no time limit";

	if (left_s >= 0)
		snprintf(left, sizeof(left),
			 "%" PRId64 ":%02" PRId64 ":%02" PRId64 " of its time left", left_s / 3600,
			 left_s / 60 % 60, left_s % 60);
	say(srun, NT_SRUN_NEWS,
	    "no measurements of these nodes: calibrating launch profiles for at most %" PRId64
	    " s before the step (once; Ctrl-C skips it; the job has %s)",
	    limit_s, left);
}

static bool claim(const struct nt_srun *srun, const char *helper, const struct nt_launch_ask *ask,
		  int64_t limit_s)
{
	char why[NT_LAUNCH_LINE] = "another step of this job is running";
	struct nt_error err;
	int claimed = 0;

	if (srun->calibrate_asked || !has_other_steps(&srun->step))
		claimed = nt_launch_claim(helper, ask, limit_s + GRACE_S + STOP_S, why, &err);
	if (claimed > 0)
		return true;
	say(srun, claimed == 0 ? NT_SRUN_NEWS : NT_SRUN_WARNING,
	    "no calibration: %.200s; the step uses NCCL's own settings",
	    claimed == 0 ? why : err.text);
	return false;
}

static void say_end(const struct nt_srun *srun, int status, const char *failure)
{
	const char *command = srun->site->command;

	if (status == NT_LAUNCH_STOPPED)
		say(srun, NT_SRUN_WARNING, "the calibration was interrupted");
	else if (status == NT_LAUNCH_LATE)
		say(srun, NT_SRUN_WARNING, "%.150s calibrate took too long and was killed",
		    command);
	else if (status > 0)
		say(srun, NT_SRUN_WARNING,
		    "the calibration failed: %.150s calibrate: exit status %d", command, status);
	else if (status < 0)
		say(srun, NT_SRUN_WARNING, "the calibration failed: %.200s", failure);
}

/* Once per job, and once for all jobs of the user that wait for the same, whatever the result. If
 * the memory does not respond, the claim is not released; it expires. */
static void calibrate(const struct nt_srun *srun, const char *helper, const char *hosts,
		      const struct nt_launch_ask *ask, struct nt_launch_answer *answer)
{
	const int64_t left_s = time_left_s(srun->step.job);
	const int64_t limit_s = calibrate_s(srun, left_s);
	struct nt_launch_answer after;
	struct nt_error err = { "" };
	int status;
	bool well;

	/* With the default as the only profile there is nothing to compare. */
	if (limit_s == 0 || (ask->allowed && !ask->allowed[0]) ||
	    !claim(srun, helper, ask, limit_s))
		return;
	say_start(srun, limit_s, left_s);
	status = run_calibration(srun, helper, hosts, limit_s, &err);
	say_end(srun, status, err.text);
	if (status == 0 && choose(srun, helper, ask, &after) < 0)
		return;
	/* An unfinished calibration changes nothing for this step. */
	well = status == 0 && !after.may_calibrate;
	if (well)
		*answer = after;
	if (nt_launch_release(helper, ask, well, &err) < 0)
		srun->say(NT_SRUN_DETAIL, err.text);
}

void nt_srun_prepare(const struct nt_srun *srun)
{
	const char *calibration = getenv(NT_ENV_CALIBRATION);
	char helper[NT_LAUNCH_PATH];
	char program[NT_PROGRAM_NAME];
	struct nt_launch_answer answer;
	struct nt_launch_ask ask = {
		.launch = is_off(srun->policy) ? "off" : srun->policy->launch,
		.nodes = srun->step.nodes,
		.tasks = srun->step.tasks,
		.job = srun->step.job,
		.calibration = calibration && strcmp(calibration, "1") == 0,
		.program = program,
		.profiles = srun->site->profiles,
		.site_memory = srun->site->site_memory,
	};
	char allowed[ALLOWED_MAX];
	char *hosts;

	nt_srun_clear();
	if (getenv("SLURM_HET_SIZE")) {
		srun->say(NT_SRUN_DETAIL, "launch profiles are not used in a heterogeneous job");
		return;
	}
	hosts = hosts_of(&srun->step);
	nt_program_name(srun->step.words, srun->step.word, program, sizeof(program));
	ask.allowed = nt_rules_profiles(srun->rules, '+', allowed, sizeof(allowed));
	ask.hosts = hosts ? hosts : "";
	nt_site_launch_program(srun->site, helper);
	if (choose(srun, helper, &ask, &answer) == 0) {
		if (answer.may_calibrate && !is_checked())
			calibrate(srun, helper, ask.hosts, &ask, &answer);
		say_choice(srun, &answer);
		hand_over(srun, &answer);
	}
	free(hosts);
}
