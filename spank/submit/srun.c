/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Choose a step's launch profile in srun, or have its tasks calibrate. */
#include "spank/submit/srun.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <slurm/slurm.h>
#include "lib/number.h"
#include "launch/user-env.h"
#include "launch/program.h"
#include "spank/submit/ask-launch.h"
#include "spank/context.h"
#include "spank/slurm_compat.h"
#include "spank/topology-env.h"

/* srun has copied its environment and only adds to the copy, so an empty value means none. */
static void clear(const char *variable)
{
	if (getenv(variable))
		setenv(variable, "", 1);
}

void nt_srun_clear(void)
{
	clear(NT_ENV_TICKET);
	clear(NT_ENV_CALIBRATE);
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

/* Slurm runs it after the hook in which tasks measure. */
static bool has_task_prolog(void)
{
	const char *site = &slurm_conf ? slurm_conf.task_prolog : NULL;
	const char *own = getenv("SLURM_TASK_PROLOG");

	return (site && site[0]) || (own && own[0]);
}

/* In accounting's list, which may lack GPUs, or in what was asked for. */
static bool names_gpus(const char *list)
{
	return list && strstr(list, "gpu");
}

/* What the job has left, and whether it has GPUs. */
static void look_at_job(uint32_t job, struct nt_launch_claim *claim)
{
	job_info_msg_t *jobs = NULL;
	const job_info_t *found;

	claim->left_s = -1;
	claim->gpus = true;
	if (nt_slurm_load_job(&jobs, job, SHOW_ALL) != SLURM_SUCCESS)
		return;
	found = jobs->record_count > 0 ? &jobs->job_array[0] : NULL;
	if (found && found->time_limit != INFINITE && found->time_limit != NO_VAL) {
		claim->left_s = (int64_t)found->end_time - (int64_t)time(NULL);
		if (claim->left_s < 0)
			claim->left_s = 0;
	}
	if (found && &slurm_conf && names_gpus(slurm_conf.gres_plugins)) /* Slurm counts GPUs */
		claim->gpus = names_gpus(found->tres_alloc_str) || names_gpus(found->gres_total) ||
			      names_gpus(found->tres_per_job) || names_gpus(found->tres_per_node) ||
			      names_gpus(found->tres_per_task);
	slurm_free_job_info_msg(jobs);
}

/* Where the tasks of the step's first node can be reached. */
static int find_address(const char *hosts, char *out, size_t out_bytes)
{
	node_info_msg_t *nodes = NULL;
	nt_slurm_hostlist list = slurm_hostlist_create(hosts);
	char *first = list ? slurm_hostlist_shift(list) : NULL;

	out[0] = '\0';
	if (first && slurm_load_node_single(&nodes, first, SHOW_ALL) == SLURM_SUCCESS &&
	    nodes->record_count > 0 && nodes->node_array[0].node_addr)
		snprintf(out, out_bytes, "%s", nodes->node_array[0].node_addr);
	if (nodes)
		slurm_free_node_info_msg(nodes);
	free(first);
	if (list)
		slurm_hostlist_destroy(list);
	return out[0] ? 0 : -1;
}

/* Of the job, on each node. */
static uint32_t gpus_a_node(void)
{
	static const char *const names[] = { "SLURM_GPUS_ON_NODE", "SLURM_GPUS_PER_NODE" };

	for (int i = 0; i < 2; i++) {
		const char *value = getenv(names[i]);
		uint64_t number;

		if (value && nt_number_parse(value, 1, NT_CAL_PROCS, &number) == 0)
			return (uint32_t)number;
	}
	return 0;
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
	return value && value[0] && !nt_variable_launched(getenv(NT_ENV_LAUNCH), name, value);
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

/* The longest calibration; 0: none is allowed. */
static int64_t limit_s(const struct nt_srun *srun)
{
	const uint64_t most_s = srun->rules->limit[NT_LIMIT_CALIBRATE];
	const int64_t wanted_s = srun->policy->calibrate_s == NT_CALIBRATE_AUTO
					 ? nt_calibrate_auto_s(srun->step.nodes)
					 : srun->policy->calibrate_s;

	return (uint64_t)wanted_s > most_s ? (int64_t)most_s : wanted_s;
}

/* Whoever has typed it is told why nothing is measured. */
static void say_no_calibration(const struct nt_srun *srun, const char *why)
{
	say(srun, srun->typed ? NT_SRUN_NEWS : NT_SRUN_DETAIL, "not calibrated: %.200s", why);
}

/* Ask for a calibration in the step's tasks, which needs no memory, processor or GPU besides
 * theirs. */
static void calibrate(const struct nt_srun *srun, const char *helper,
		      const struct nt_launch_ask *ask, const struct nt_launch_answer *answer)
{
	struct nt_launch_claim claim;
	char address[64], request[NT_CAL_REQUEST_MAX], why[NT_LAUNCH_LINE];
	struct nt_error err;
	int rc;

	if (answer->not_due[0]) {
		say(srun, NT_SRUN_DETAIL, "not calibrated: %.200s", answer->not_due);
		return;
	}
	if (has_task_prolog()) {
		say_no_calibration(srun, "TaskProlog may set variables of NCCL that are not yet "
					 "set when the tasks measure");
		return;
	}
	claim.address = address;
	look_at_job(srun->step.job, &claim);
	if (find_address(ask->hosts, address, sizeof(address)) < 0) {
		say_no_calibration(srun, "the address of the step's first node is unknown");
		return;
	}
	if (!srun->typed && has_other_steps(&srun->step)) {
		say_no_calibration(srun, "another step of this job is running");
		return;
	}
	rc = nt_launch_calibrate(helper, ask, &claim, request, why, &err);
	if (rc < 0)
		say(srun, NT_SRUN_WARNING, "not calibrated: %.200s", err.text);
	else if (rc == 0)
		say_no_calibration(srun, why);
	else
		setenv(NT_ENV_CALIBRATE, request, 1);
}

/* nccl-tune calibrate says itself what is measured; the address is added here. */
static bool take_request(const struct nt_srun *srun, const char *hosts, const char *text)
{
	struct nt_cal_request request;
	char out[NT_CAL_REQUEST_MAX];
	struct nt_error err;

	if (!text[0] || nt_cal_request_parse(&request, text, &err) < 0)
		return false;
	if (find_address(hosts, request.address, sizeof(request.address)) < 0)
		say_no_calibration(srun, "the address of the step's first node is unknown");
	else if (nt_cal_request_print(&request, out, sizeof(out), &err) == 0)
		setenv(NT_ENV_CALIBRATE, out, 1);
	return true;
}

void nt_srun_prepare(const struct nt_srun *srun)
{
	const char *given = getenv(NT_ENV_CALIBRATE);
	char asked[NT_CAL_REQUEST_MAX];

	char helper[NT_LAUNCH_PATH];
	char program[NT_PROGRAM_NAME];
	struct nt_launch_answer answer;
	struct nt_launch_ask ask = {
		.launch = is_off(srun->policy) ? "off" : srun->policy->launch,
		.nodes = srun->step.nodes,
		.tasks = srun->step.tasks,
		.job = srun->step.job,
		.typed = srun->typed,
		.limit_s = is_off(srun->policy) ? 0 : limit_s(srun),
		.node_gpus = gpus_a_node(),
		.program = program,
		.profiles = srun->site->profiles,
		.site_memory = srun->site->site_memory,
	};
	char *hosts;

	snprintf(asked, sizeof(asked), "%s", given ? given : "");
	nt_srun_clear();
	if (getenv("SLURM_HET_SIZE")) {
		say(srun, srun->typed ? NT_SRUN_NEWS : NT_SRUN_DETAIL,
		    "launch profiles are not used in a heterogeneous job");
		return;
	}
	hosts = hosts_of(&srun->step);
	/* nccl-tune calibrate brings a request; its benchmark is no program of the user's. */
	if (asked[0])
		snprintf(program, sizeof(program), NT_CALIBRATES);
	else
		nt_program_name(srun->step.words, srun->step.word, program, sizeof(program));
	ask.hosts = hosts ? hosts : "";
	nt_site_launch_program(srun->site, helper);
	if (choose(srun, helper, &ask, &answer) == 0) {
		say_choice(srun, &answer);
		/* Before hand_over(): nt-launch takes what is in the environment for the user's. */
		if (strcmp(srun->policy->launch, "auto") == 0 && !is_checked() &&
		    !take_request(srun, ask.hosts, asked))
			calibrate(srun, helper, &ask, &answer);
		hand_over(srun, &answer);
	}
	free(hosts);
}
