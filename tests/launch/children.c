/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* children.c - an NCCL job whose ranks fork all the while, as data loaders do
 *
 *   children LIBRARY [option of nt-fake-nccl]...
 *
 * Each kind of child ends in another way, some after calling the plugin. In the end each task says
 *   forked COUNT failed COUNT, and "no plugin" where none was loaded
 *   pid PID
 *   tray PID		for each tray in the node's memory
 * Built by the tests: cc -I TOP children.c -pthread -ldl.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "contract/tray-layout.h"
#include "load.h"
#include "tuner/abi.h"

#define PAUSE_US 10000
#define LIFE_US 300000 /* of a child that lives beside the others */

static _Atomic bool played;

/* Who has trays in the node's memory, as the policy names it: the processes, each once; 0 ends. */
static const uint32_t *read_owners(void)
{
	static struct nt_trays trays;
	const char *policy = getenv("NCCL_TUNE_POLICY");
	const char *at = policy ? strstr(policy, ",shm=") : NULL;
	int fd = at ? open(at + strlen(",shm="), O_RDONLY | O_CLOEXEC) : -1;

	memset(&trays, 0, sizeof(trays));
	if (fd >= 0) {
		if (pread(fd, &trays, sizeof(trays), (off_t)NT_TRAYS_AT) < 0)
			trays.owner[0] = 0;
		close(fd);
	}
	return (const uint32_t *)(void *)trays.owner;
}

static void list_owners(void)
{
	for (const uint32_t *owner = read_owners(); *owner; owner++)
		fprintf(stderr, "tray %u\n", (unsigned)*owner);
}

/* A child that is forked before may start the plugin itself. */
static bool has_started(void)
{
	for (const uint32_t *owner = read_owners(); *owner; owner++) {
		if (*owner == (uint32_t)getpid())
			return true;
	}
	return false;
}

/* The plugin, once this process has started it. Not looked for in a child: other threads may be
 * loading libraries at a fork. */
static const struct nt_tuner_v5 *find_plugin(void)
{
	const char *path = getenv("NCCL_TUNER_PLUGIN");
	void *library = path && has_started() ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)
					      : NULL;

	return library ? dlsym(library, "ncclTunerPlugin_v5") : NULL;
}

/* What a child does that takes its inherited NCCL for its own: all of it must do nothing. */
static void use_plugin(const struct nt_tuner_v5 *tuner)
{
	float table[NT_TUNER_ALGOS_OLD * 3] = { 1, 2, 3 };
	struct nt_tuner_nvl_v5 nvl = { 0 };
	struct nt_tuner_constants_v5 constants = { 0 };
	void *context = NULL;
	int channels = 0;

	if (tuner->init(&context, 1, 4, 2, NULL, &nvl, &constants) != 0 || context)
		_exit(81);
	if (tuner->get_coll_info(context, 4, 1024, 1, (float **)(void *)table, NT_TUNER_ALGOS_OLD,
				 3, 0, &channels) != 0 ||
	    table[0] != 1 || table[1] != 2 || table[2] != 3)
		_exit(82);
	if (tuner->finalize(context) != 0)
		_exit(83);
}

static void be_child(unsigned kind, const struct nt_tuner_v5 *tuner)
{
	close(STDOUT_FILENO); /* what the task is printing just now would be printed twice */
	switch (kind) {
	case 0: exit(0);
	case 1: _exit(0);
	case 2: quick_exit(0);
	case 3: execl("/bin/true", "true", (char *)NULL); _exit(84);
	case 4:
		if (tuner)
			use_plugin(tuner);
		exit(0);
	case 5: usleep(LIFE_US); exit(0);
	case 6: /* its own child ends in order, too */
		if (fork() == 0)
			exit(0);
		wait(NULL);
		exit(0);
	default: pthread_exit(NULL); /* the last thread: the process exits with 0 */
	}
}

#define KINDS 8

static void *fork_children(void *arg)
{
	const struct nt_tuner_v5 *tuner = NULL;
	unsigned forked = 0, ended = 0, failed = 0;
	int status;
	pid_t pid;

	(void)arg;
	while (!atomic_load(&played)) {
		if (!tuner)
			tuner = find_plugin();
		pid = fork();
		if (pid == 0)
			be_child(forked % KINDS, tuner);
		forked += pid > 0;
		failed += pid < 0;
		usleep(PAUSE_US);
		while (waitpid(-1, &status, WNOHANG) > 0) {
			ended++;
			failed += status != 0;
		}
	}
	for (; ended < forked && wait(&status) > 0; ended++)
		failed += status != 0;
	fprintf(stderr, "forked %u failed %u%s\n", forked, failed, tuner ? "" : " no plugin");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	nt_play_job play;
	int rc;

	if (argc < 2)
		return 2;
	play = nt_load_job(argv[1]);
	if (pthread_create(&thread, NULL, fork_children, NULL) != 0)
		return 2;
	rc = play(argc - 1, argv + 1);
	atomic_store(&played, true);
	pthread_join(thread, NULL);
	fprintf(stderr, "pid %d\n", (int)getpid());
	list_owners();
	return rc;
}
