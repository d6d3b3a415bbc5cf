/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Read tickets and remembered arms in slurmstepd. */
#include "spank/step/profile-env.h"

#include <stdio.h>
#include <string.h>
#include "contract/warm.h"
#include "lib/file.h"
#include "launch/user-env.h"
#include "lib/printable.h"

#define LAUNCHED_MAX 512 /* NCCL_TUNE_LAUNCH: a name, and all settings there are */
#define VALUE_MAX 64 /* longer than any that a profile sets */

struct applying {
	const struct nt_task_env *env;
	char launched[LAUNCHED_MAX]; /* what the step around this one, or this one, got */
	const struct nt_settings *wanted; /* srun may have set these already */
	struct nt_user_env site;
};

static bool is_wanted(const struct applying *a, const char *name, const char *value)
{
	int id = nt_variable_find(name);
	int64_t number;

	return id >= 0 && a->wanted->set[id] &&
	       nt_variable_parse((unsigned)id, value, &number, NULL) == 0 &&
	       number == a->wanted->value[id];
}

/* Does the variable have a value that is neither srun's nor from a profile of the step around this
 * one? */
static bool is_users(const struct applying *a, const char *name)
{
	char value[VALUE_MAX];
	int rc = a->env->get(a->env->context, name, value, sizeof(value));

	if (rc != 0)
		return rc > 0;
	return value[0] != '\0' && !nt_variable_launched(a->launched, name, value) &&
	       !is_wanted(a, name, value);
}

static bool is_set(const char *name, void *context)
{
	const struct applying *a = context;

	return is_users(a, name) || nt_user_env_has(&a->site, name);
}

static bool is_left_over(const struct applying *a, const char *name)
{
	char value[VALUE_MAX];

	return a->env->get(a->env->context, name, value, sizeof(value)) == 0 &&
	       nt_variable_launched(a->launched, name, value);
}

static void resolve(struct applying *a, struct nt_ticket *ticket)
{
	struct nt_profile profile = { .settings = ticket->settings };
	struct nt_resolved resolved;

	a->wanted = &profile.settings;
	nt_profile_resolve(&profile, is_set, a, &resolved);
	a->wanted = NULL;
	ticket->settings = resolved.apply;
	nt_ticket_leave_all(ticket, &resolved);
}

static void set_settings(const struct applying *a, const struct nt_settings *settings)
{
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		const char *name = nt_variable_get(i)->name;
		char value[24];

		if (settings->set[i]) {
			snprintf(value, sizeof(value), "%lld", (long long)settings->value[i]);
			nt_task_env_set(a->env, name, value);
		} else if (is_left_over(a, name)) {
			nt_task_env_unset(a->env, name);
		}
	}
}

static void say_launch(const struct nt_task_env *env, const struct nt_applied *applied)
{
	char settings[LAUNCHED_MAX - NT_PROFILE_NAME], text[LAUNCHED_MAX];

	if (!applied->valid) {
		nt_task_env_unset(env, NT_ENV_LAUNCH);
		return;
	}
	nt_settings_text(&applied->ticket.settings, settings, sizeof(settings));
	snprintf(text, sizeof(text), "%s%s%s", applied->ticket.profile,
		 settings[0] != '\0' ? " " : "", settings);
	nt_task_env_set(env, NT_ENV_LAUNCH, text);
}

static void take_ticket(const struct nt_task_env *env, bool profile, struct nt_applied *out)
{
	struct nt_error err;
	int rc = env->get(env->context, NT_ENV_TICKET, out->text, sizeof(out->text));

	if (rc > 0)
		nt_error_set(&out->trouble, "longer than %d bytes", NT_TICKET_MAX - 1);
	/* Empty means none: srun cannot unset it. */
	if (rc != 0 || !profile || out->text[0] == '\0')
		return;
	out->valid = nt_ticket_parse(&out->ticket, out->text, &err) == 0;
	if (!out->valid)
		out->trouble = err;
}

/* The text is parsed and written anew: nothing of the user's own is passed on. */
static void hand_on_arms(const struct nt_task_env *env, bool profile, struct nt_error *trouble)
{
	static char text[NT_WARM_TEXT_MAX];
	static struct nt_warm warm;
	struct nt_error err;
	int rc = env->get(env->context, NT_ENV_SLURM_WARM, text, sizeof(text));

	profile = profile && text[0] != '\0';
	if (rc == 0 && profile && nt_warm_parse(&warm, text, &err) == 0 &&
	    nt_warm_print(&warm, text, sizeof(text), &err) == 0) {
		nt_task_env_set(env, NT_ENV_WARM, text);
		return;
	}
	if (rc == 0 && profile && trouble->text[0] == '\0')
		nt_error_set(trouble, "remembered arms: %.200s", err.text);
	else if (rc > 0 && trouble->text[0] == '\0')
		nt_error_set(trouble, "remembered arms: longer than %d bytes",
			     NT_WARM_TEXT_MAX - 1);
	nt_task_env_unset(env, NT_ENV_WARM);
}

/* Parsed in the tasks only, as the user. */
static void take_request(const struct nt_task_env *env, bool profile, struct nt_applied *out)
{
	int rc = env->get(env->context, NT_ENV_CALIBRATE, out->calibrate, sizeof(out->calibrate));

	if (rc > 0)
		nt_error_set(&out->trouble, "request to calibrate: longer than %d bytes",
			     NT_CAL_REQUEST_MAX - 1);
	if (rc != 0 || !profile)
		out->calibrate[0] = '\0';
	nt_task_env_unset(env, NT_ENV_CALIBRATE);
}

static void find_launched(struct applying *a)
{
	if (a->env->get(a->env->context, NT_ENV_LAUNCH, a->launched, sizeof(a->launched)) != 0)
		a->launched[0] = '\0';
}

void nt_profile_env_apply(const struct nt_task_env *env, bool profile, const char *site_file,
			  struct nt_applied *out)
{
	struct applying a = { .env = env };
	struct nt_error err;

	memset(out, 0, sizeof(*out));
	nt_user_env_init(&a.site);
	find_launched(&a);
	take_ticket(env, profile, out);
	if (out->valid && nt_user_env_file(&a.site, site_file, NT_FILE_ROOT_ONLY, &err) < 0)
		nt_error_set(&out->trouble,
			     "the launch profile may override the site's variables: %.180s",
			     err.text);
	if (out->valid)
		resolve(&a, &out->ticket);
	set_settings(&a, &out->ticket.settings);
	say_launch(env, out);
	hand_on_arms(env, profile, &out->trouble);
	take_request(env, profile, out);
	/* They are for us only; what the tasks start must not see them. */
	nt_task_env_unset(env, NT_ENV_TICKET);
	nt_task_env_unset(env, NT_ENV_SLURM_WARM);
	if (!out->valid || nt_ticket_print(&out->ticket, out->text, sizeof(out->text), &err) < 0)
		snprintf(out->text, sizeof(out->text), "-");
	(void)nt_printable(out->trouble.text);
}

void nt_profile_env_apply_measured(const struct nt_task_env *env,
				   const struct nt_cal_profile *profile, const char *site_file)
{
	struct nt_applied measured = { .valid = true };
	struct applying a = { .env = env };

	nt_user_env_init(&a.site);
	find_launched(&a);
	(void)nt_user_env_file(&a.site, site_file, NT_FILE_ROOT_ONLY, NULL);
	memcpy(measured.ticket.profile, profile->name, sizeof(measured.ticket.profile));
	measured.ticket.settings = profile->settings;
	resolve(&a, &measured.ticket);
	set_settings(&a, &measured.ticket.settings);
	say_launch(env, &measured);
}
