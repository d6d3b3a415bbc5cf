/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "tuner/abi.h"

#define FIRST_RELEASE 22602 /* with KernelCh */
#define OPERATIONS (2 * 64 * 2 * 8 * 72) /* of MAX_OPS_PER_PEER for NCCL_MAX_LOCAL_RANKS */

struct operation {
	char bytes[232];
};

/* struct ncclProxyOpsPool, src/include/proxy.h:208@v2.28.9-1 */
struct nt_pool {
	struct operation operation[OPERATIONS];
	int next, end, free[72];
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int references;
};

static void *progress(void *arg)
{
	return arg;
}

/* What failed; NULL: nothing. The one who made the file opens and maps it again. */
static const char *open_pool(struct nt_comm *c)
{
	char path[] = "/dev/shm/nccl-XXXXXX";
	int fd = mkstemp(path), again = -1;
	const char *failed = NULL;
	void *peer = MAP_FAILED;
	pthread_t thread;

	if (fd < 0)
		return "mkstemp";
	c->pool = MAP_FAILED;
	if (fallocate(fd, 0, 0, sizeof(*c->pool)) < 0)
		failed = "fallocate";
	else
		c->pool = mmap(NULL, sizeof(*c->pool), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!failed && c->pool == MAP_FAILED)
		failed = "mmap";
	if (!failed && pthread_create(&thread, NULL, progress, NULL) != 0)
		failed = "pthread_create";
	else if (!failed)
		pthread_join(thread, NULL);
	if (!failed)
		again = open(path, O_RDWR | O_CLOEXEC);
	if (!failed && again < 0)
		failed = "open";
	if (!failed)
		peer = mmap(NULL, sizeof(*c->pool), PROT_READ, MAP_SHARED, again, 0);
	if (!failed && peer == MAP_FAILED)
		failed = "mmap";
	if (peer != MAP_FAILED)
		munmap(peer, sizeof(*c->pool));
	if (again >= 0)
		close(again);
	close(fd);
	unlink(path);
	return failed;
}

void nt_pool_need(struct nt_plan *p)
{
	struct nt_comm *c = p->comm;
	const struct nt_job *job = c->owner->job;
	const bool network = c->place.nodes > 1;
	bool times = false;
	const char *failed;

	if (!job->options->proxy_pool || c->pool || job->release->code < FIRST_RELEASE ||
	    job->release->code >= NT_RELEASE_TUNING)
		return;
	for (unsigned i = 0; i < p->tasks; i++)
		times |= (p->task[i].mask & (int)NT_PROF_KERNEL_CH) != 0;
	for (unsigned i = 0; i < p->p2ps; i++)
		times |= (p->p2p[i].mask & (int)NT_PROF_KERNEL_CH) != 0;
	if (!network && !(times && nt_load_profiler_now()))
		return;
	failed = open_pool(c);
	if (!failed)
		return;
	fprintf(stderr, "nt-fake-nccl: rank %u: %s of the proxy's pool in /dev/shm: %s\n",
		c->owner->rank, failed, strerror(errno));
	if (network)
		nt_fake_leave(c->owner->job, NT_EXIT_NCCL_ERROR, "the network has no proxy");
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

void nt_pool_free(struct nt_comm *c)
{
	if (c->pool && c->pool != MAP_FAILED)
		munmap(c->pool, sizeof(*c->pool));
}
