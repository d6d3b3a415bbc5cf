/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* strike.c - watch a node's shared memory and send a signal at a wanted step of the agreement
 *
 * nt-strike CLUSTER NODE STEP VICTIM OF [TIMEOUT_S [SIGNAL]]
 *   STEP    joining, agreed, wanted, held, committed, running, next, final (enum step)
 *   VICTIM  speaker: the node's speaker; rank: its last member that does not speak; stepd: the
 *                    parent of its tasks
 *   OF      whose communicator is watched: own (the victim is a member), other, any; of the
 *                                          stepd all are any
 *
 * Only communicators that span nodes are watched. Strikes at once where STEP has come, and where
 * it was jumped over or is past already: "before" and "after" tell in which step the
 * communicator was just before the signal and once the victim was dead, as this node's shared
 * memory has it. Prints one JSON object. Exit 0: struck; 1: nothing to strike in time; 2: usage.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "contract/shm-layout.h"
#include "contract/names.h"

#define LOOK_NS 50000L /* between two looks: a hold lasts some milliseconds */
#define DEATH_MS 2000 /* the longest until a killed process is a zombie or gone */

/* How far a communicator is: its furthest key. */
enum step {
	STEP_NONE = 0, /* not in the shared memory */
	STEP_JOINING,
	STEP_AGREED,
	STEP_WANTED, /* a key is open */
	STEP_HELD, /* the first plan: acknowledged, or about to be; the outcome is not known */
	STEP_COMMITTED, /* it is in the shared memory; no rank has started a collective of it */
	STEP_RUNNING,
	STEP_NEXT, /* the second plan is held, or a later one is in force */
	STEP_FOR_GOOD, /* a plan for good, or none ever again */
	STEP_REJECTED,
	STEPS
};

static const char *const step_name[STEPS] = {
	"none",	     "joining", "agreed", "wanted", "held",
	"committed", "running", "next",	  "final",  "rejected"
};

enum victim { VICTIM_LEADER, VICTIM_RANK, VICTIM_STEPD };
enum of { OF_OWN, OF_OTHER, OF_ANY };

struct aim {
	const char *cluster, *node;
	enum step step;
	enum victim victim;
	enum of of;
	uint64_t timeout_ms;
	int signal;
};

struct sight {
	pid_t pid; /* of the victim; 0: not known yet */
	struct nt_shm_comm *comm; /* that is furthest of those watched */
	enum step step;
	uint64_t hold_at;
	uint32_t epoch, issued;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void sleep_briefly(void)
{
	const struct timespec t = { .tv_nsec = LOOK_NS };

	nanosleep(&t, NULL);
}

/* A word of /proc/PID/stat behind the name: 0 the state's letter, 1 the parent's pid. -1: no
 * such process. */
static long stat_word(pid_t pid, int index)
{
	char path[64], text[512];
	const char *at;
	ssize_t count;
	char letter;
	int parent;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	count = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[count > 0 ? count : 0] = 0;
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1, " %c %d", &letter, &parent) != 2)
		return -1;
	return index == 0 ? letter : parent;
}

static bool joined(struct nt_shm_slot *slot)
{
	return atomic_load(&slot->state) == NT_PARTICIPANT_JOINED && atomic_load(&slot->pid) > 1;
}

static bool has_member(struct nt_shm_comm *comm, pid_t pid)
{
	for (int m = 0; m < NT_SHM_SLOTS; m++) {
		if (joined(&comm->slot[m]) && (pid_t)atomic_load(&comm->slot[m].pid) == pid)
			return true;
	}
	return false;
}

static bool is_spanning(struct nt_shm_comm *comm)
{
	return atomic_load(&comm->id) != 0 && atomic_load(&comm->nodes) > 1;
}

/* 0: not there yet. The last one, so that a rank of a second program of the step is taken where
 * there is one. */
static pid_t find_victim(struct nt_shm *shm, enum victim victim)
{
	uint32_t leader = atomic_load(&shm->leader_pid);
	pid_t found = 0;

	if (victim == VICTIM_LEADER || leader == 0)
		return (pid_t)leader;
	for (int c = 0; c < NT_SHM_COMMS; c++) {
		for (int m = 0; is_spanning(&shm->comm[c]) && m < NT_SHM_SLOTS; m++) {
			struct nt_shm_slot *slot = &shm->comm[c].slot[m];
			uint32_t pid = atomic_load(&slot->pid);

			if (joined(slot) && pid != leader)
				found = (pid_t)pid;
		}
	}
	if (victim == VICTIM_STEPD) {
		long parent = stat_word((pid_t)leader, 1);

		found = parent > 1 ? (pid_t)parent : 0;
	}
	return found;
}

static enum step step_of_key(struct nt_shm *shm, struct nt_shm_comm *comm, int k,
			     struct sight *sight)
{
	struct nt_shm_key *key = &comm->key[k];
	uint32_t owner = 1 + (uint32_t)(comm - shm->comm) * NT_SHM_KEYS + (uint32_t)k;
	uint32_t state = atomic_load(&key->state);

	if (atomic_load(&key->id) == 0 || state == NT_KEY_IDLE)
		return STEP_AGREED;
	sight->hold_at = atomic_load(&key->hold_at);
	sight->epoch = atomic_load(&key->epoch);
	sight->issued = 0;
	for (int r = 0; r < NT_SHM_RUNS; r++) {
		for (int m = 0; atomic_load(&shm->run[r].owner) == owner && m < NT_SHM_SLOTS; m++)
			sight->issued += atomic_load(&shm->run[r].issued[m]);
	}
	if (state == NT_KEY_COMMITTED || state == NT_KEY_CLOSED)
		return STEP_FOR_GOOD;
	if (sight->epoch > 1 || (sight->epoch == 1 && sight->hold_at != 0))
		return STEP_NEXT;
	if (sight->epoch == 1)
		return sight->issued > 0 ? STEP_RUNNING : STEP_COMMITTED;
	return sight->hold_at != 0 ? STEP_HELD : STEP_WANTED;
}

static void look_at_comm(struct nt_shm *shm, struct nt_shm_comm *comm, struct sight *sight)
{
	uint32_t state = atomic_load(&comm->state);
	struct sight one = { .comm = comm };
	bool any_joined = false;

	for (int m = 0; m < NT_SHM_SLOTS; m++)
		any_joined |= joined(&comm->slot[m]);
	if (state == NT_COMM_REJECTED)
		one.step = STEP_REJECTED;
	else if (state == NT_COMM_JOINING)
		one.step = any_joined ? STEP_JOINING : STEP_NONE;
	for (int k = 0;
	     state == NT_COMM_AGREED && k < NT_SHM_KEYS && atomic_load(&comm->key[k].id) != 0;
	     k++) {
		struct sight of_key = { .comm = comm };

		of_key.step = step_of_key(shm, comm, k, &of_key);
		if (of_key.step > one.step)
			one = of_key;
	}
	if (one.step > sight->step) {
		one.pid = sight->pid;
		*sight = one;
	}
}

static void look(struct nt_shm *shm, const struct aim *aim, struct sight *sight)
{
	*sight = (struct sight){ .pid = find_victim(shm, aim->victim) };
	for (int c = 0; sight->pid != 0 && c < NT_SHM_COMMS; c++) {
		struct nt_shm_comm *comm = &shm->comm[c];

		if (!is_spanning(comm))
			continue;
		if (aim->of == OF_ANY || aim->victim == VICTIM_STEPD ||
		    has_member(comm, sight->pid) == (aim->of == OF_OWN))
			look_at_comm(shm, comm, sight);
	}
}

static enum step step_beside(struct nt_shm *shm, const struct nt_shm_comm *watched)
{
	struct sight furthest = { .step = STEP_NONE };

	for (int c = 0; c < NT_SHM_COMMS; c++) {
		if (&shm->comm[c] != watched && is_spanning(&shm->comm[c]))
			look_at_comm(shm, &shm->comm[c], &furthest);
	}
	return furthest.step;
}

/* The descriptor of a process that is sealed memory whose name begins so; -1: it has none. */
static int open_in_process(const char *process, const char *want)
{
	char path[512], link[256];
	const struct dirent *entry;
	int found = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", process);
	dir = opendir(path);
	while (dir && found < 0 && (entry = readdir(dir)) != NULL) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%.20s/fd/%.20s", process, entry->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = '\0';
		if (strncmp(link, want, strlen(want)) == 0)
			found = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Another cluster beside this one may have a step of the same name. */
static bool is_of_cluster(const char *process, const char *cluster)
{
	static char environment[256 * 1024];
	char path[64];
	size_t bytes = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/environ", process);
	file = fopen(path, "re");
	if (file) {
		bytes = fread(environment, 1, sizeof(environment), file);
		fclose(file);
	}
	return memmem(environment, bytes, cluster, strlen(cluster)) != NULL;
}

/* Of the step that runs on the node; a cluster of this test has one at a time. */
static int open_sealed(const struct aim *aim)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	char want[256];
	int fd = -1;

	/* As NT_SHM_SEALED has it. */
	snprintf(want, sizeof(want), "/memfd:nccl-tune-shm.%u.%.100s.", NT_SHM_LAYOUT, aim->node);
	while (dir && fd < 0 && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    is_of_cluster(entry->d_name, aim->cluster))
			fd = open_in_process(entry->d_name, want);
	}
	if (dir)
		closedir(dir);
	return fd;
}

static struct nt_shm *find_shm(const struct aim *aim)
{
	const int fd = open_sealed(aim);
	struct nt_shm *shm;

	if (fd < 0)
		return NULL;
	shm = mmap(NULL, sizeof(*shm), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return shm == MAP_FAILED ? NULL : shm;
}

static bool is_dead(pid_t pid)
{
	long state = stat_word(pid, 0);

	return state < 0 || state == 'Z' || state == 'X';
}

static int strike(struct nt_shm *shm, const struct aim *aim, uint64_t until_ms)
{
	struct sight before, after = { .pid = 0 };
	enum step beside;
	uint64_t struck_ms;
	int rc;

	do {
		sleep_briefly();
		look(shm, aim, &before);
		if (now_ms() > until_ms)
			return 1;
	} while (before.pid == 0 || before.step < aim->step);
	beside = step_beside(shm, before.comm);
	rc = kill(before.pid, aim->signal) == 0 ? 0 : errno;
	struck_ms = now_ms();
	while (aim->signal == SIGKILL && !is_dead(before.pid) && now_ms() - struck_ms < DEATH_MS)
		sleep_briefly();
	look_at_comm(shm, before.comm, &after);
	printf("{\"wanted\":\"%s\",\"before\":\"%s\",\"after\":\"%s\",\"beside\":\"%s\",\"pid\":%d,\"epoch\":%u,\"hold\":%llu,"
	       "\"issued\":%u,\"left_ms\":%llu,\"error\":\"%s\",\"dead\":%s}\n",
	       step_name[aim->step], step_name[before.step], step_name[after.step],
	       step_name[beside], (int)before.pid, after.epoch, (unsigned long long)after.hold_at,
	       after.issued, (unsigned long long)(until_ms > struck_ms ? until_ms - struck_ms : 0),
	       rc ? strerror(rc) : "", is_dead(before.pid) ? "true" : "false");
	return rc ? 1 : 0;
}

static int index_of(const char *text, const char *const *names, int count)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(text, names[i]) == 0)
			return i;
	}
	return -1;
}

static int parse(struct aim *aim, int argc, char **argv)
{
	static const char *const victims[] = { "speaker", "rank", "stepd" };
	static const char *const whose[] = { "own", "other", "any" };
	int step, victim, of;

	if (argc < 6 || argc > 8)
		return -1;
	step = index_of(argv[3], step_name, STEPS);
	victim = index_of(argv[4], victims, 3);
	of = index_of(argv[5], whose, 3);
	if (step < STEP_JOINING || victim < 0 || of < 0)
		return -1;
	aim->cluster = argv[1];
	aim->node = argv[2];
	aim->step = (enum step)step;
	aim->victim = (enum victim)victim;
	aim->of = (enum of)of;
	aim->timeout_ms = (argc > 6 ? strtoul(argv[6], NULL, 10) : 20) * 1000;
	aim->signal = argc > 7 ? (int)strtol(argv[7], NULL, 10) : SIGKILL;
	return 0;
}

int main(int argc, char **argv)
{
	struct nt_shm *shm = NULL;
	struct aim aim;
	uint64_t until_ms;
	int rc = 1;

	if (parse(&aim, argc, argv) < 0) {
		fprintf(stderr,
			"usage: nt-strike CLUSTER NODE STEP VICTIM OF [TIMEOUT_S [SIGNAL]]\n");
		return 2;
	}
	until_ms = now_ms() + aim.timeout_ms;
	while (!shm && now_ms() < until_ms) {
		shm = find_shm(&aim);
		if (!shm)
			sleep_briefly();
	}
	if (shm)
		rc = strike(shm, &aim, until_ms);
	if (rc == 1)
		fprintf(stderr, "nt-strike: %s on %s did not come in time\n", argv[3], aim.node);
	return rc;
}
