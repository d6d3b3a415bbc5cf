/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/settled.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "contract/names.h"
#include "pmix-sync/shm.h"

#define BEATS 5 /* of the node leader: it has seen what the ranks have done, and acted on it */

static int open_shm(void)
{
	const char *policy = getenv(NT_ENV_POLICY);
	const char *path = policy ? strstr(policy, ",shm=") : NULL;

	return path ? open(path + strlen(",shm="), O_RDONLY | O_CLOEXEC) : -1;
}

static const struct nt_shm *map_shm(void)
{
	const int fd = open_shm();
	void *shm = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (lseek(fd, 0, SEEK_END) > (off_t)sizeof(struct nt_shm))
		shm = mmap(NULL, sizeof(struct nt_shm), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	return shm == MAP_FAILED ? NULL : shm;
}

/* The state of all communicators of the node. */
struct seen {
	unsigned comms;
	unsigned pending; /* communicators that are joining, keys that are open */
	unsigned idle; /* keys that may still be opened */
};

static void see(const struct nt_shm_comm *comm, struct seen *seen)
{
	if (atomic_load(&comm->id) == 0)
		return;
	seen->comms++;
	seen->pending += atomic_load(&comm->state) == NT_COMM_JOINING;
	for (uint32_t k = 0; nt_shm_claimed(comm, k); k++) {
		const uint32_t state = atomic_load(&comm->key[k].state);

		seen->pending += state == NT_KEY_OPEN;
		seen->idle += state == NT_KEY_IDLE;
	}
}

bool nt_settled(struct nt_settled *s)
{
	struct seen seen = { .comms = 0 };
	uint64_t beat;

	if (!s->looked)
		s->shm = map_shm();
	s->looked = true;
	if (!s->shm || atomic_load(&s->shm->magic) != NT_SHM_MAGIC)
		return true;
	beat = atomic_load(&s->shm->beat);
	for (unsigned c = 0; c < NT_SHM_COMMS; c++)
		see(&s->shm->comm[c], &seen);
	if (beat == 0 || seen.comms == 0 || seen.pending > 0)
		s->beat = 0;
	else if (seen.idle == 0)
		return true;
	else if (s->beat == 0)
		s->beat = beat;
	return s->beat != 0 && beat >= s->beat + BEATS;
}
