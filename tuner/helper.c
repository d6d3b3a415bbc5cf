/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* helper.c - see helper.h */
#include "tuner/helper.h"

#include <locale.h>
#include <signal.h>
#include <time.h>
#include "pmix-sync/mpi.h"
#include "pmix-sync/speaker.h"
#include "tuner/chain.h"
#include "tuner/comm.h"
#include "tuner/home.h"
#include "tuner/write.h"

#define BUSY_MS 20u /* between two rounds while something changes */
#define IDLE_MS 200u /* ... and when long nothing has */
#define CALM_MS 60000u /* without a change of state for this long, nothing is expected soon */
#define RECORD_MS \
	10000u /* at least this long between two records, but for the first and the last */
#define STALL_MS 10000u /* a key that was not called for this long need not be measured */
#define LOCK_NS 100000000L
#define TIRED_MS 180000u /* a key is open for this long without a new plan */
#define TRY_MS 1000u /* between two tries to speak for the node */
#define LATE_MS 10000u /* the first task of a node has this long to come */

/* What the thread knows between two rounds. */
struct rounds {
	struct nt_home home;
	struct nt_histories histories;
	struct nt_speaker *speaker;
	struct nt_mpi mpi;
	uint64_t ms; /* of this round */
	uint64_t signature; /* of all states */
	uint64_t changed_ms, written_ms;
	uint64_t began_ms, tried_ms; /* when to speak was tried last; 0: not yet */
	uint64_t beat; /* the board's at that time: a speaker lives where it has grown */
	uint64_t written; /* the signature of the newest record */
	bool decided; /* some key is: the record is worth writing */
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct timespec after_ms(clockid_t clock, uint32_t wait_ms)
{
	struct timespec until;

	clock_gettime(clock, &until);
	until.tv_sec += wait_ms / 1000;
	until.tv_nsec += (long)(wait_ms % 1000) * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	return until;
}

void nt_helper_init(struct nt_helper *helper)
{
	pthread_condattr_t clock;

	pthread_mutex_init(&helper->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&helper->wake, &clock);
	pthread_cond_init(&helper->ended, &clock);
	pthread_condattr_destroy(&clock);
	helper->started = helper->stop = helper->done = false;
}

void nt_helper_fini(struct nt_helper *helper)
{
	pthread_cond_destroy(&helper->ended);
	pthread_cond_destroy(&helper->wake);
	pthread_mutex_destroy(&helper->lock);
}

/* Only raises: the decision thread may have published a newer count in between. */
static void publish_calls(struct nt_own_key *key, uint32_t member, uint64_t calls)
{
	uint64_t there = atomic_load_explicit(&key->shared->calls[member], memory_order_relaxed);

	while (there < calls &&
	       !atomic_compare_exchange_weak_explicit(&key->shared->calls[member], &there, calls,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/* A window whose key is no longer called would leave GPU times on for the whole process. */
static void stop_stalled(struct nt_session *session, struct nt_own_key *key, uint64_t calls,
			 uint64_t ms)
{
	if (calls != key->seen_calls) {
		key->seen_calls = calls;
		key->seen_ms = ms;
		return;
	}
	if (ms - key->seen_ms >= STALL_MS &&
	    atomic_load_explicit(&key->measuring, memory_order_relaxed) &&
	    atomic_exchange_explicit(&key->measuring, false, memory_order_relaxed))
		nt_mask_measure(&session->mask, -1);
}

/* A key whose home or another member is gone would cost events for ever. */
static void note_tired(struct nt_own_key *key, uint32_t own, uint64_t ms)
{
	uint32_t epoch;

	if (!key->shared || own != NT_OWN_OPEN)
		return;
	epoch = atomic_load_explicit(&key->shared->epoch, memory_order_relaxed);
	if (key->opened_ms == 0 || epoch != key->seen_epoch)
		key->opened_ms = ms;
	key->seen_epoch = epoch;
	if (ms - key->opened_ms >= TIRED_MS)
		atomic_store_explicit(&key->tired, true, memory_order_relaxed);
}

static void mix(uint64_t *signature, uint64_t value)
{
	*signature = (*signature ^ value) * UINT64_C(0x100000001b3);
}

/* The board has a key open once more: this rank's next decision looks at it. Once in a session. */
static void open_again(struct nt_comm *comm, struct nt_own_key *key, uint32_t own)
{
	uint32_t latched = NT_OWN_LATCHED;

	if (atomic_load_explicit(&key->shared->state, memory_order_acquire) != NT_KEY_RECHECK) {
		key->reopened = false;
		return;
	}
	if (key->reopened || own != NT_OWN_LATCHED || nt_comm_frozen(comm))
		return;
	key->reopened = true;
	key->opened_ms = 0;
	atomic_store_explicit(&key->tired, false, memory_order_relaxed);
	/* Nothing to pair with: the decision looks at the board itself. */
	atomic_compare_exchange_strong_explicit(&key->state, &latched, NT_OWN_AGAIN,
						memory_order_relaxed, memory_order_relaxed);
}

static void look_at_key(struct nt_comm *comm, struct nt_own_key *key, struct rounds *r,
			uint64_t *signature)
{
	uint64_t calls = atomic_load_explicit(&key->calls, memory_order_relaxed);
	uint32_t own = atomic_load_explicit(&key->state, memory_order_acquire);
	uint32_t shared = NT_KEY_IDLE;

	if (comm->left)
		return;
	if (key->shared)
		open_again(comm, key, own);
	stop_stalled(comm->session, key, calls, r->ms);
	note_tired(key, own, r->ms);
	if (key->shared) {
		shared = atomic_load_explicit(&key->shared->state, memory_order_acquire);
		publish_calls(key, comm->seat.member, calls);
	}
	/* A rank that left a key passes every plan, so that the node can sum up. */
	if (key->shared && (own == NT_OWN_GONE || (own == NT_OWN_LATCHED && nt_comm_frozen(comm))))
		atomic_store(&key->shared->passed[comm->seat.member],
			     atomic_load(&key->shared->epoch));
	r->decided |= own == NT_OWN_LATCHED || shared == NT_KEY_CLOSED;
	mix(signature, own << 8 | shared);
}

static void look_at_all(struct nt_session *session, struct rounds *r)
{
	uint64_t signature = UINT64_C(0xcbf29ce484222325);

	r->ms = now_ms();

	pthread_mutex_lock(&session->lock);
	for (uint32_t i = 0; i < session->comms; i++) {
		struct nt_comm *comm = session->comm[i];

		mix(&signature, comm->id ^ comm->halves);
		if (comm->board && !comm->left)
			mix(&signature,
			    atomic_load_explicit(&comm->board->state, memory_order_acquire));
		for (unsigned k = 0; k < NT_OWN_KEYS; k++) {
			/* Pairs with the release in describe_key() of comm.c. */
			if (atomic_load_explicit(&comm->key_id[k], memory_order_acquire) != 0)
				look_at_key(comm, &comm->key[k], r, &signature);
		}
	}
	pthread_mutex_unlock(&session->lock);
	if (signature != r->signature)
		r->changed_ms = r->ms;
	r->signature = signature;
}

static void write_when_due(struct nt_session *session, struct rounds *r)
{
	if (!r->decided || r->signature == r->written ||
	    (r->written_ms != 0 && r->ms - r->written_ms < RECORD_MS))
		return;
	(void)nt_write_record(session, r->speaker, false);
	r->written_ms = r->ms;
	r->written = r->signature;
}

/* Tried again now and then: the process that speaks may end before this one. */
static void create_speaker(struct nt_session *session, struct rounds *r)
{
	struct nt_speaker_config config = {
		.board = session->map.board,
		.dir = session->place.dir,
		.join_ms = (uint32_t)session->policy.join_timeout_s * 1000,
		.join_calls = (uint32_t)session->policy.min_calls,
		.agree_ms = (uint32_t)session->policy.agree_timeout_s * 1000,
		.task = session->task,
		.tasks = session->tasks,
		.local_task = session->local_task,
		.nodes = session->nodes,
		.late = r->tried_ms != 0 && r->ms - r->began_ms >= LATE_MS,
	};
	uint64_t beat;

	if (session->policy.mode != NT_MODE_BANDIT || !session->map.board ||
	    (r->tried_ms != 0 && r->ms - r->tried_ms < TRY_MS))
		return;
	/* The program's own MPI starts first, whenever that is: nobody of the node is late before. */
	if (session->nodes > 1 && nt_mpi_comes_first(&r->mpi)) {
		r->began_ms = r->ms;
		return;
	}
	r->home.engine.policy = session->policy;
	r->home.engine.histories = &r->histories;
	r->home.board = session->map.board;
	config.hooks = nt_home_hooks(&r->home);
	beat = atomic_load_explicit(&session->map.board->beat, memory_order_relaxed);
	if (r->tried_ms == 0 || beat == r->beat)
		r->speaker = nt_speaker_create(&config, NULL);
	r->beat = beat;
	r->tried_ms = r->ms;
}

static uint32_t one_round(struct nt_session *session, struct rounds *r)
{
	uint32_t sleep_ms = IDLE_MS, speaker_ms;

	look_at_all(session, r);
	nt_chain_tick(r->ms);
	if (r->ms - r->changed_ms < CALM_MS)
		sleep_ms = BUSY_MS;
	if (!r->speaker)
		create_speaker(session, r);
	if (r->speaker) {
		speaker_ms = nt_speaker_step(r->speaker, r->ms);
		sleep_ms = speaker_ms < sleep_ms ? speaker_ms : sleep_ms;
	}
	write_when_due(session, r);
	return sleep_ms;
}

/* True: it is time to end. */
static bool rest(struct nt_helper *helper, uint32_t sleep_ms)
{
	struct timespec until = after_ms(CLOCK_MONOTONIC, sleep_ms);
	bool stop;

	pthread_mutex_lock(&helper->lock);
	if (!helper->stop)
		pthread_cond_timedwait(&helper->wake, &helper->lock, &until);
	stop = helper->stop;
	pthread_mutex_unlock(&helper->lock);
	return stop;
}

static void *run(void *arg)
{
	struct nt_session *session = arg;
	struct nt_helper *helper = &session->helper;
	struct rounds r = { .changed_ms = now_ms(), .began_ms = now_ms() };
	/* Records have decimal points wherever the application lives. */
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);

	if (plain)
		uselocale(plain);
	session->histories = &r.histories;
	while (!rest(helper, one_round(session, &r)))
		;
	look_at_all(session, &r);
	(void)nt_write_record(session, r.speaker, true);
	nt_speaker_destroy(r.speaker);
	session->histories = NULL;
	nt_histories_clear(&r.histories);
	if (plain) {
		uselocale(LC_GLOBAL_LOCALE);
		freelocale(plain);
	}
	pthread_mutex_lock(&helper->lock);
	helper->done = true;
	pthread_cond_broadcast(&helper->ended);
	pthread_mutex_unlock(&helper->lock);
	return NULL;
}

void nt_helper_start(struct nt_session *session)
{
	struct nt_helper *helper = &session->helper;
	sigset_t all, before;

	pthread_mutex_lock(&helper->lock);
	if (!helper->started && !helper->stop) {
		/* The thread inherits the mask: it takes no signal that is meant for the
		 * application. */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		helper->started = pthread_create(&helper->thread, NULL, run, session) == 0;
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		if (helper->started)
			(void)pthread_setname_np(helper->thread, "nccl-tune");
		else
			helper->stop = true; /* tried once */
	}
	pthread_mutex_unlock(&helper->lock);
}

bool nt_helper_stop(struct nt_helper *helper, uint32_t wait_ms)
{
	const struct timespec until = after_ms(CLOCK_MONOTONIC, wait_ms);
	/* The exiting thread may have been stopped anywhere, a signal handler included. */
	const struct timespec lock_until = after_ms(CLOCK_REALTIME, LOCK_NS / 1000000);
	bool started, done;
	int rc = 0;

	if (pthread_mutex_timedlock(&helper->lock, &lock_until) != 0)
		return false;
	started = helper->started;
	helper->stop = true;
	pthread_cond_signal(&helper->wake);
	while (started && !helper->done && rc == 0)
		rc = pthread_cond_timedwait(&helper->ended, &helper->lock, &until);
	done = !started || helper->done;
	helper->started = started && !done;
	pthread_mutex_unlock(&helper->lock);
	if (started && done)
		pthread_join(helper->thread, NULL);
	return done;
}
