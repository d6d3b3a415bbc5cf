/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree.pml - the agreement of pmix-sync/ on one key of one communicator, for Spin
 *
 * One process per rank and per node leader; leader 0 is the coordinator. docs/agreement.md says what is modelled and what
 * is not; check.sh sets sizes and removes rules.
 *
 * Between two statements (or atomic sequences) every other process may run. Atomic are only: actions of a process on its
 * own state; taking an entry from a queue and the next action; the end of a step and sending its result (the reader may
 * be arbitrarily late); reads of values that only grow. With COARSE also: a rank's read of the key's state and the
 * publishing of its turn; its read of the epoch and the copy of the plan; the parts of the leader's writing of a plan.
 * The runs without COARSE show that nothing depends on these.
 *
 * Transitions that traces of the real code have, too (trace-check.h), carry their names in a comment.
 *
 * Sizes:    NODES, RPN (ranks a node), TURNS (0 .. TURNS - 1 are decided), PROPOSALS (of all plans together)
 * Faults:   DEATHS, LEAVES (of leaders), RETIRING (ranks leave at the end), FREEZES (ranks that go on with the baseline only)
 * Shapes:   CHAIN (answers go from each node to the one before it), OPENING (the key starts closed: WANT and READY),
 *           RECHECKS (of a committed key: so many at most, each node begins and ends them as it likes),
 *           COMMITTED_FIRST (plan 1, for good, is in force from turn 0 on, and all ranks look away),
 *           SECOND_LIFE (an earlier communicator had the same id and another coordinator, which all but node 0 have answered)
 */
#ifndef NODES
#define NODES 2
#endif
#ifndef RPN
#define RPN 1
#endif
#ifndef TURNS
#define TURNS 4
#endif
#ifndef PROPOSALS
#define PROPOSALS 2
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef LEAVES
#define LEAVES 0
#endif
#ifndef FREEZES
#define FREEZES 0
#endif
#ifndef RECHECKS
#define RECHECKS 0
#endif

#define RANKS (NODES * RPN)
#define NODE(r) ((r) / RPN)
#define NEVER 15
#define GONE 14				/* the turn of a rank that is on the baseline for good */
#define LOG_MAX (2 * PROPOSALS + 5 + 2 * RECHECKS)
#ifdef CHAIN
#define PARENT(n) ((n) - 1)
#else
#define PARENT(n) 0
#endif
#define IS_CHILD(n, m) ((m) > 0 && PARENT(m) == (n))

/* Entries: type, epoch, whether for good, at. */
#define WANT 1
#define READY 2
#define PROPOSE 3
#define ACK 4
#define NACK 5
#define COMMIT 6
#define ABORT 7
#define DATA 8
#define CLOSE 9
#define REFUSE 10
#define ENTRY(type, epoch) ((type) | (epoch) << 4)
#define PLAN(type, epoch, at, for_good) (ENTRY(type, epoch) | (for_good) << 7 | (at) << 8)
#define TYPE(x) ((x) & 15)
#define EPOCH(x) (((x) >> 4) & 7)
#define AT(x) (((x) >> 8) & 15)
#define UNTIL(x) (((x) >> 7) & 1 -> NEVER : AT(x) + 1)	/* a window is one turn long */

/* An answer to the coordinator of an earlier communicator of this id. */
#define EARLIER (1 << 12)
#if defined(SECOND_LIFE) && !defined(ANY_COORDINATOR)
#define IS_EARLIER(x) (((x) >> 12) & 1)
#else
#define IS_EARLIER(x) false
#endif
#define IS_ANSWER(x) (TYPE(x) == READY || TYPE(x) == ACK || TYPE(x) == NACK || TYPE(x) == DATA)

/* ---- shared memory of the ranks and the leader of a node */

#define IDLE 0
#define OPEN 1
#define CLOSED 2
#define COMMITTED 3				/* a plan for good is in force: ranks look no more, */
#define RECHECK 4			/* ... and here they do once more */
#if RECHECKS > 0
#define IS_OPEN (shm[n].state == OPEN || shm[n].state >= COMMITTED)
#else
#define IS_OPEN (shm[n].state == OPEN)
#endif

typedef plan_t {
	byte epoch, at, until
};

typedef shm_t {
	byte state;
	byte hold;		/* turn + 1; 0: none */
	byte epoch;
	plan_t plan[2]
};

shm_t shm[NODES];
byte turn[RANKS];		/* plus one; 0: unknown */
byte passed[RANKS];
bool left[RANKS];
bool flag[RANKS];

/* ---- logs */

/* Entries are read in the order of their log, by each reader at any time: a log is a queue for each of its readers. */
chan coordinator_log[NODES] = [LOG_MAX] of { short };		/* as read by each node, coordinator included */
chan member_log[NODES] = [LOG_MAX] of { short };	/* of each node, as read by its parent */
#ifdef EARLY_EFFECT
chan unsaid = [4] of { short };
#endif

/* ---- what is only there to be checked */

byte choice[TURNS];		/* what the first rank took at a turn: 0 nothing yet, 1 the baseline, else epoch and position */
bool committed[8];		/* by epoch: COMMIT is in the coordinator's log */
bool open_question;		/* a PROPOSE is in the coordinator's log and its outcome is not */
bool dead[NODES], gone[NODES];	/* leaders: died; died or left */
byte reading[RANKS];		/* 1 + the slot that a rank is about to copy */
byte decided[RANKS];		/* turns that a rank has decided */
byte deaths = DEATHS, leaves = LEAVES, freezes = FREEZES;

#define SEATED(r) (!left[r])
#define OBJECTION_OF(r) (left[r] || flag[r])
#define PASSED_BY(r, e, until) (left[r] || (passed[r] >= (e) && ((until) == NEVER || turn[r] > (until))))
#if RPN == 1
#define OBJECTION(n) OBJECTION_OF(n)
#define PASSED(n, e, u) ((e) == 0 || PASSED_BY(n, e, u))
#define KNOWN(n) (left[n] || turn[n] != 0)
#elif RPN == 2
#define OBJECTION(n) (OBJECTION_OF(2 * (n)) || OBJECTION_OF(2 * (n) + 1))
#define PASSED(n, e, u) ((e) == 0 || (PASSED_BY(2 * (n), e, u) && PASSED_BY(2 * (n) + 1, e, u)))
#define KNOWN(n) ((left[2 * (n)] || turn[2 * (n)] != 0) && (left[2 * (n) + 1] || turn[2 * (n) + 1] != 0))
#endif

/* ---- a rank: pmix-sync/turn.h, and what tuner/apply-plan.c does around it */

/* Invariant 1: no two ranks differ on a collective. What all ranks have decided need not be remembered. */
#define ALL_BEYOND(i) (decided[0] > (i) && decided[1 % RANKS] > (i) && decided[2 % RANKS] > (i) && \
		       decided[3 % RANKS] > (i))

inline note(c)
{
	assert(choice[t] == 0 || choice[t] == c);	/* ranks differ */
	choice[t] = c;
	t++;
	decided[r] = t;
	if
	:: ALL_BEYOND(t - 1) -> choice[t - 1] = 0
	:: else
	fi
}

/* Outside of a window: what it lies over. */
#define UNDER (under.epoch == 0 -> 1 : 2 + under.epoch * 16 + t - under.at)

/* nt_turn_advance() after the copy, and the decision. */
inline decide()
{
	if
	:: next.epoch != 0 && t >= next.at ->
		if
		:: mine.until == NEVER -> under.epoch = mine.epoch; under.at = mine.at
		:: else
		fi;
		mine.epoch = next.epoch; mine.at = next.at; mine.until = next.until;
		next.epoch = 0; next.at = 0; next.until = 0;
		passed[r] = mine.epoch	/* transition: pass */
	:: else
	fi;
	assert(mine.epoch == 0 || committed[mine.epoch]);	/* followed without COMMIT */
	e = (mine.epoch == 0 || t >= mine.until -> UNDER : 2 + mine.epoch * 16 + t - mine.at);
	note(e);
	if
	:: t >= mine.until -> mine.at = 0; mine.until = 0	/* so that equal states look equal */
	:: else
	fi;
	e = 0
}

inline copy_plan()
{
	next.epoch = shm[n].plan[e & 1].epoch;
	next.at = shm[n].plan[e & 1].at;
	next.until = shm[n].plan[e & 1].until;
	reading[r] = 0;
	assert(next.epoch == e)		/* the slot holds another plan */
}

#define HELD (shm[n].hold != 0 && t + 1 >= shm[n].hold)
/* A wait may end without an outcome only if the node's leader is gone, or the coordinator died without an outcome. */
#ifdef LEAVING_EXCUSES_NOBODY
#define EXCUSED (dead[n] || (dead[0] && open_question))
#else
#define EXCUSED (gone[n] || (dead[0] && open_question))
#endif
#if RECHECKS > 0
#define LOOKS_AWAY away
#else
#define LOOKS_AWAY (frozen || (mine.epoch != 0 && mine.until == NEVER))
#endif
#define MAY_LOOK_AWAY (!seen && next.epoch == 0 && (mine.until == NEVER || (under.epoch != 0 && t > mine.until)))

proctype rank(byte r; byte n)
{
	byte t, e;
	plan_t mine, next, under;
	bool frozen;
	bool away, seen;		/* no longer reads shared memory; it showed RECHECK at the last read */

#ifdef COMMITTED_FIRST
	d_step { mine.epoch = 1; mine.until = NEVER; away = true };
#endif
call:	if
	:: t == TURNS ->
		goto finished
	:: t < TURNS && LOOKS_AWAY ->		/* committed: shared memory is no longer read */
		d_step {
			e = (frozen -> 1 : (mine.until == NEVER -> 2 + mine.epoch * 16 + t - mine.at : UNDER));
			note(e);
			e = 0
		}
		goto call
#if RECHECKS > 0
	:: atomic { t < TURNS && away && shm[n].state == RECHECK -> away = false }
#endif
	:: t < TURNS && !LOOKS_AWAY
	fi;
#if FREEZES > 0
	if
	:: atomic { shm[n].state == OPEN && freezes > 0 -> freezes--; flag[r] = true }	/* transition: flag */
		if
		:: shm[n].hold != 0 || next.epoch != 0 -> goto failed
		:: else
		fi;
		if
		:: shm[n].epoch != mine.epoch || (mine.epoch != 0 && turn[r] <= mine.until) -> goto failed
		:: else
		fi;
		frozen = true;
		turn[r] = GONE;
		passed[r] = shm[n].epoch;
		goto call
	:: true
	fi;
#endif
#ifdef RANK_HOLD_FIRST
	!HELD;
#endif
#ifdef COARSE
	atomic {
#endif
	if
	:: !IS_OPEN ->
		d_step { note(1) };
		goto call
	:: atomic { IS_OPEN -> seen = (shm[n].state == RECHECK) }
	fi;
	turn[r] = t + 1;	/* transition: turn */
#ifdef COARSE
	}
#endif
#if !defined(RANK_IGNORES_HOLD) && !defined(RANK_HOLD_FIRST)
	if
	:: !HELD
	:: HELD && EXCUSED -> goto failed	/* transition: look */
	fi;
#endif
#ifdef COARSE
	d_step {
		e = shm[n].epoch;
		if
		:: e != mine.epoch && e != next.epoch -> copy_plan()
		:: else
		fi;
		decide()
	};
#else
	atomic {
		e = shm[n].epoch;
		if
		:: e != mine.epoch && e != next.epoch -> reading[r] = 1 + (e & 1)	/* transition: take */
		:: else -> e = 0
		fi
	};
	if
	:: e != 0 -> d_step { copy_plan() }
	:: else
	fi;
	d_step { decide() };
#endif
#if RECHECKS > 0
	/* nt_turn_commit() */
	if
	:: MAY_LOOK_AWAY ->
#ifndef AWAY_TURN_KEPT
		turn[r] = 0;	/* transition: withdraw */
#endif
		if
#ifdef AWAY_UNSEEN
		:: away = true
#else
		:: atomic { shm[n].hold == 0 && shm[n].epoch == mine.epoch -> away = true }
		:: else -> turn[r] = t
#endif
		fi
	:: else
	fi;
#endif
	goto call;
finished:
#ifdef RETIRING
	left[r] = true;	/* transition: leave */
#endif
failed:	skip
}

/* ---- a leader: participant.c, tree.c, coordinator.c and the driver in agree.c */

#define H_IDLE 0
#define H_WANTED 1
#define H_RETRY 2
#define H_PROPOSED 3
#define H_RUNNING 4
#define H_DONE 5

/* The coordinator's entries are in its log, for all to read, before they take effect on its own node. */
inline publish_entry()
{
	m = 1;
	do
	:: m < NODES -> coordinator_log[m]!x; m++
	:: else -> break
	od;
	m = 0;
	if
	:: TYPE(x) == COMMIT -> committed[EPOCH(x)] = true; open_question = false
	:: TYPE(x) == ABORT -> open_question = false
	:: TYPE(x) == PROPOSE -> open_question = true
	:: else
	fi
}

/* The last thing in an atomic sequence. */
inline say(what)
{
	x = what;
#ifdef EARLY_EFFECT
	coordinator_log[0]!x;
	unsaid!x;
	x = 0
#else
	publish_entry();
	coordinator_log[0]!x;
	x = 0
#endif
}

/* tree.c: what node `who` says is added to what this node knows of its branch. */
#ifdef BRANCH_NOT_WAITED
#define BRANCH_IS_IN (t_from >> n & 1)
#elif defined(MISSING_ACK)
#define BRANCH_IS_IN ((t_from | (1 << (NODES - 1))) == branch)
#else
#define BRANCH_IS_IN (t_from == branch)
#endif

inline answer(who, what, about)
{
	x = (what == READY -> 1 : 2 * (about) + (what == DATA -> 1 : 0));
	if
	:: x > t_phase -> t_phase = x; t_from = 0; t_refused = false; t_told = false
	:: else
	fi;
	if
	:: x == t_phase && !(t_from >> (who) & 1) ->
		t_from = t_from | (1 << (who));
#ifndef NACK_IS_ACK
		t_refused = t_refused || what == NACK;
#endif
		if
		:: !t_told && (t_refused || BRANCH_IS_IN) ->
			t_told = true;
			x = (t_refused -> NACK : (what == NACK -> ACK : what));
			if
			:: n != 0 -> member_log[n]!ENTRY(x, about)	/* transition: sum */
			:: n == 0 && ((x == READY && h == H_WANTED && h_opened == 0) ||
				      ((x == ACK || x == NACK) && about == h_epoch && h == H_PROPOSED) ||
				      (x == DATA && about == h_epoch && h == H_RUNNING)) ->
				h_refused = (x == NACK);
				h_answered = (x != NACK)
			:: else
			fi
		:: else
		fi
	:: else
	fi;
	x = 0
}

/* READY of a recheck, which has a sum of its own. */
inline answer_recheck(who, about)
{
	if
	:: about > a_phase -> a_phase = about; a_from = 0; a_told = false
	:: else
	fi;
	if
	:: about == a_phase && !(a_from >> (who) & 1) ->
		a_from = a_from | (1 << (who));
		if
		:: !a_told && a_from == branch ->
			a_told = true;
			if
			:: n != 0 -> member_log[n]!ENTRY(READY, about)
			:: n == 0 && h == H_WANTED && about == h_opened -> h_refused = false; h_answered = true
			:: n == 0 && !(h == H_WANTED && about == h_opened)
			fi
		:: else
		fi
	:: else
	fi
}

/* The last thing in an atomic sequence. */
inline refuse()
{
	if
	:: refusing
	:: !refusing && n != 0 -> refusing = true; member_log[n]!ENTRY(REFUSE, 0)	/* transition: refuse */
	:: !refusing && n == 0 -> refusing = true; say(ENTRY(REFUSE, 0))
	fi
}

/* Invariant 4: who could read the slot has moved past the plan that was there. */
#define UNREAD_BY(r, s) (reading[r] != 1 + (s) && \
			 (left[r] || turn[r] == GONE || passed[r] >= shm[n].plan[s].epoch))
#define UNREAD(s) (UNREAD_BY(n * RPN, s) && UNREAD_BY(n * RPN + RPN - 1, s))

#define MAY_CHANGE (!is_committed || rechecking)

/* may_hold(): every part of it only ever turns to no, or to yes, so that one look is as good as several. */
#ifdef NO_PASSED
#define IS_OVER true
#else
#define IS_OVER (!data_due && PASSED(n, inst_epoch, inst_until))
#endif
#ifdef UNKNOWN_IS_ZERO
#define TURNS_KNOWN true
#define REACHED(r, at) (SEATED(r) && turn[r] > (at))
#else
#define TURNS_KNOWN KNOWN(n)
#define REACHED(r, at) (SEATED(r) && (turn[r] == 0 || turn[r] > (at)))
#endif
#define MAY_HOLD (!refusing && !OBJECTION(n) && !closed && !in_doubt && wanted && EPOCH(entry) > inst_epoch && \
		  MAY_CHANGE && IS_OVER)
#ifdef ANY_EPOCH
#define IS_OURS in_doubt
#else
#define IS_OURS (in_doubt && pend_epoch == EPOCH(entry))
#endif

/* What needs no more than one step is done here, inside the atomic sequence that took the entry. */
inline dispatch(who)
{
	if
	:: TYPE(entry) == WANT -> wanted = true
	:: TYPE(entry) == CLOSE && !is_committed -> closed = true; shm[n].state = CLOSED
	:: TYPE(entry) == CLOSE && is_committed && rechecking && !in_doubt && !data_due -> rechecking = false; shm[n].state = COMMITTED
	:: TYPE(entry) == CLOSE && is_committed && !(rechecking && !in_doubt && !data_due)
	:: TYPE(entry) == PROPOSE ->
		if
		:: MAY_HOLD -> goto hold
		:: !MAY_HOLD && in_doubt -> answer(n, NACK, EPOCH(entry))
		:: !MAY_HOLD && !in_doubt -> goto no_hold
		fi
	:: TYPE(entry) == COMMIT || TYPE(entry) == ABORT ->
		if
		:: IS_OURS -> goto outcome
		:: !IS_OURS
		fi
	:: TYPE(entry) == REFUSE && n == 0 -> comm_refused = true
	:: TYPE(entry) == REFUSE && n != 0 && who == 0 -> refusing = true
	:: TYPE(entry) == REFUSE && n != 0 && who != 0 -> refuse()
#if RECHECKS > 0
	:: TYPE(entry) == READY && EPOCH(entry) != 0 -> answer_recheck(who, EPOCH(entry))
#endif
	:: IS_EARLIER(entry)
	:: !IS_EARLIER(entry) && IS_ANSWER(entry) && !(TYPE(entry) == READY && EPOCH(entry) != 0) ->
		answer(who, TYPE(entry), EPOCH(entry))
	fi;
	entry = 0
}

/* The turns of this node's ranks; they rise, and a slot is left once: ranks are read one after the other. */
#if RPN == 1
#define LOOK_AT_FIRST skip
#else
#define LOOK_AT_FIRST ok = ok && !REACHED(n * RPN, AT(entry))
#endif
#define REACHED_BY_LAST REACHED(n * RPN + RPN - 1, AT(entry))
#ifdef OBJECTION_ONCE
#define OBJECTION_LATER false
#else
#define OBJECTION_LATER OBJECTION(n)
#endif
#ifdef CLOSED_IN_FORCE
#define MAY_CLOSE true
#else
#define MAY_CLOSE (!in_doubt && !is_committed && PASSED(n, inst_epoch, inst_until))
#endif
#ifdef NO_PASSED
#define MAY_SUM_UP true
#else
#define MAY_SUM_UP PASSED(n, inst_epoch, inst_until)
#endif
#ifdef NO_DEADLINE
#define MAY_ABORT (h_refused || comm_refused)
#else
#define MAY_ABORT true			/* a NACK, a REFUSE, or the deadline */
#endif
#ifdef EPOCH_REUSED
#define NEXT_EPOCH (retrying -> h_epoch : h_epoch + 1)
#else
#define NEXT_EPOCH (h_epoch + 1)
#endif

proctype leader(byte n)
{
	/* participant */
	bool wanted, ready, closed, in_doubt, data_due, refusing, leaving, ok;
	bool is_committed, rechecking, recheck_ready;
	byte recheck, a_phase, a_from, h_opened;
	bool a_told;
	byte pend_epoch, pend_at, pend_until, inst_epoch, inst_until;
	/* its branch */
	byte t_phase, t_from, branch;
	bool t_refused, t_told;
	/* coordinator */
	byte h, h_epoch, h_at, proposals;
	bool h_for_good, h_answered, h_refused, comm_refused, retrying;
	byte m;
	short x, entry;

	d_step {
		branch = 1 << n;
		m = 1;
		do
		:: m < NODES && IS_CHILD(n, m) -> branch = branch | (1 << m); m++
		:: m < NODES && !IS_CHILD(n, m) -> m++
		:: else -> break
		od;
		m = 0;
#ifdef OPENING
		h = H_IDLE
#elif defined(COMMITTED_FIRST)
		h = H_DONE;
		h_epoch = 1;
		wanted = true;
		ready = true;
		is_committed = true;
		inst_epoch = 1;
		inst_until = NEVER
#else
		h = H_RETRY;
		wanted = true;
		ready = true
#endif
	}
#if DEATHS > 0
	{
#endif
end:	do
	/* ---- what a log says */
	:: atomic { !leaving && nempty(coordinator_log[n]) -> coordinator_log[n]?entry; dispatch(0) }	/* transition: read */
#if LEAVES > 0
	:: atomic { leaving && n == 0 && nempty(coordinator_log[0]) -> coordinator_log[0]?entry; dispatch(0) }
	:: atomic { leaving && (n != 0 || empty(coordinator_log[0])) -> gone[n] = true; break }
#endif
#if NODES > 1
	:: atomic { !leaving && IS_CHILD(n, 1) && nempty(member_log[1]) -> member_log[1]?entry; dispatch(1) }
#endif
#if NODES > 2
	:: atomic { !leaving && IS_CHILD(n, 2) && nempty(member_log[2]) -> member_log[2]?entry; dispatch(2) }
#endif

	/* ---- member_step() */
#if defined(RETIRING) || FREEZES > 0
	:: atomic { !leaving && !refusing && OBJECTION(n) -> refuse() }
#endif
#ifdef OPENING
	:: atomic { !leaving && !closed && wanted && shm[n].state == IDLE -> shm[n].state = OPEN }	/* transition: open */
	:: atomic { !leaving && !closed && wanted && shm[n].state == OPEN && !ready && TURNS_KNOWN ->
			ready = true;
			answer(n, READY, 0)	/* transition: ready */
		}
#endif
	:: atomic { !leaving && refusing && wanted && !closed && MAY_CLOSE -> closed = true; shm[n].state = CLOSED }	/* transition: shut */
	:: atomic { !leaving && !closed && data_due && MAY_SUM_UP -> data_due = false; answer(n, DATA, inst_epoch) }	/* transition: data */

#if RECHECKS > 0
	/* ---- recheck.c: when a recheck begins and ends is each node's own affair */
	:: atomic { !leaving && is_committed && !rechecking && !in_doubt && !data_due && !refusing && recheck < RECHECKS ->
			recheck++;
			rechecking = true;
			recheck_ready = false;
			shm[n].state = RECHECK	/* transition: recheck */
		}
	:: atomic { !leaving && rechecking && !in_doubt && !data_due -> rechecking = false; shm[n].state = COMMITTED }
	:: atomic { !leaving && rechecking && !recheck_ready && !in_doubt && !data_due && TURNS_KNOWN ->
			recheck_ready = true;
			answer_recheck(n, recheck)
		}
	:: atomic { n == 0 && !leaving && h == H_DONE && rechecking && h_opened != recheck && !comm_refused ->
			h_opened = recheck;
			h_answered = false; h_refused = false; retrying = false;
			h = H_WANTED
		}
	:: atomic { n == 0 && !leaving && is_committed && !rechecking && (h == H_WANTED || h == H_RETRY || h == H_RUNNING) ->
			h_answered = false;
			h = H_DONE
		}
#endif

	/* ---- home_step() */
	:: atomic { n == 0 && !leaving && h == H_IDLE && !comm_refused -> h = H_WANTED; say(ENTRY(WANT, 0)) }	/* transition: want */
	:: atomic { n == 0 && !leaving && h == H_WANTED && h_answered -> h_answered = false; h = H_RETRY }
	:: atomic { n == 0 && !leaving && h == H_WANTED && (comm_refused || (!is_committed && ready && !h_answered)) ->
			h = H_DONE;
			say(ENTRY(CLOSE, 0))	/* transition: close */		/* NT_READY_MS is over */
		}
	/* `at` may be any turn: the lead affects how often a proposal succeeds, not safety. */
	:: atomic { n == 0 && !leaving && h == H_RETRY && !comm_refused && proposals < PROPOSALS ->
			if
			:: !retrying -> h_for_good = true
			:: !retrying -> h_for_good = false
			:: retrying			/* the same plan, elsewhere */
			fi;
			h_at = 1;
			do
			:: h_at < TURNS - 1 -> h_at++
			:: break
			od;
			h_epoch = NEXT_EPOCH;
			proposals++;
			h_answered = false; h_refused = false;
			h = H_PROPOSED;
			x = h_at;
			h_at = 0;
			say(PLAN(PROPOSE, h_epoch, x, h_for_good))	/* transition: propose */
		}
	:: atomic { n == 0 && !leaving && h == H_RETRY && (comm_refused || proposals == PROPOSALS) ->
			h = H_DONE;
			say(ENTRY(CLOSE, 0))
		}
	:: atomic { n == 0 && !leaving && h == H_PROPOSED && MAY_ABORT ->
			h = H_RETRY;
			retrying = true;
			say(ENTRY(ABORT, h_epoch))	/* transition: abort */
		}
	:: atomic { n == 0 && !leaving && h == H_PROPOSED && h_answered && !h_refused && !comm_refused ->
			h = (h_for_good -> H_DONE : H_RUNNING);
			h_answered = false;
			retrying = false;
			say(ENTRY(COMMIT, h_epoch))	/* transition: commit */
		}
	:: atomic { n == 0 && !leaving && h == H_RUNNING && h_answered -> h_answered = false; h = H_RETRY }
	:: atomic { n == 0 && !leaving && h == H_RUNNING && h_answered ->
			h_answered = false;
			h = H_DONE;
			say(ENTRY(CLOSE, 0))
		}
#ifdef CLOSE_IN_FORCE
	:: atomic { n == 0 && !leaving && h == H_RUNNING && comm_refused -> h = H_DONE; say(ENTRY(CLOSE, 0)) }
#endif
#if LEAVES > 0
	:: atomic { !leaving && leaves > 0 ->		/* in good order */
			leaves--;
			leaving = true;
			comm_refused = true;
#ifndef LEAVES_SILENTLY
			if
			:: n == 0 && h == H_PROPOSED -> h = H_DONE; say(ENTRY(ABORT, h_epoch))
			:: else
			fi;
#endif
			refuse()
		}
#endif
#ifdef EARLY_EFFECT
	:: atomic { n == 0 && nempty(unsaid) -> unsaid?x; publish_entry(); x = 0 }
#endif

	/* ---- on_propose() */
	:: false ->
hold:		ok = true;
#ifdef TURNS_FIRST
		LOOK_AT_FIRST;
		ok = ok && !REACHED_BY_LAST;
#endif
#ifndef NO_HOLD
		shm[n].hold = AT(entry) + 1;	/* transition: hold */
#endif
#if defined(TURNS_FIRST) || defined(NO_TURN_CHECK)
#define NONE_REACHED ok
#else
		LOOK_AT_FIRST;
#define NONE_REACHED (ok && !REACHED_BY_LAST)
#endif
#ifndef COARSE
		ok = NONE_REACHED;	/* transition: see */
#undef NONE_REACHED
#define NONE_REACHED ok
#endif
		if
		:: atomic { NONE_REACHED && !OBJECTION_LATER ->
				in_doubt = true; ok = false;
				pend_epoch = EPOCH(entry); pend_at = AT(entry); pend_until = UNTIL(entry);
				answer(n, ACK, EPOCH(entry));	/* transition: ack */
				entry = 0
			}
		:: else -> goto no_hold
		fi
	:: false ->
no_hold:	atomic {
			shm[n].hold = 0;
			ok = false;
			answer(n, NACK, EPOCH(entry));	/* transition: nack */
			entry = 0
		}

	/* ---- on_outcome() */
	:: false ->
outcome:	atomic {
			in_doubt = false;
			if
			:: TYPE(entry) == COMMIT ->
				inst_epoch = pend_epoch; inst_until = pend_until;
				data_due = (pend_until != NEVER);
				goto install
			:: TYPE(entry) == ABORT
#ifdef HOLD_STAYS
				-> pend_epoch = 0; pend_at = 0; pend_until = 0; entry = 0; goto end
#endif
			fi
		}
clear:		atomic { shm[n].hold = 0; pend_epoch = 0; pend_at = 0; pend_until = 0; entry = 0 }	/* transition: release */
	:: false ->
install:
#ifdef HOLD_CLEARED_FIRST
		shm[n].hold = 0;
#endif
#ifdef EPOCH_FIRST
		shm[n].epoch = pend_epoch;
#endif
#ifdef COARSE
		atomic {
#else
		skip;		/* no jump into a d_step */
#endif
		d_step {
			/* Invariant 3 */
			assert(committed[pend_epoch]);		/* in shared memory without COMMIT */
			/* Invariant 4 */
			assert(UNREAD(pend_epoch & 1));		/* slot rewritten too early */
			shm[n].plan[pend_epoch & 1].at = pend_at;
			shm[n].plan[pend_epoch & 1].epoch = 0
		};
		d_step {
			shm[n].plan[pend_epoch & 1].epoch = pend_epoch;
			shm[n].plan[pend_epoch & 1].until = pend_until
		};
#ifndef EPOCH_FIRST
		shm[n].epoch = pend_epoch;	/* transition: install */
#endif
#if RECHECKS > 0
		atomic {
			if
			:: pend_until == NEVER -> is_committed = true; rechecking = false; shm[n].state = COMMITTED	/* transition: settle */
			:: else
			fi
		};
#endif
#ifdef COARSE
		}
#endif
		goto clear
	od
#if DEATHS > 0
	} unless {
		dead[n]
	}
#endif
}

#if DEATHS > 0
proctype killer()
{
	byte n;

	do
	:: deaths > 0 ->
		n = 0;
		do
		:: n < NODES - 1 -> n++
		:: break
		od;
		atomic { deaths--; dead[n] = true; gone[n] = true }
	:: break
	od
}
#endif

init
{
	byte i;

	atomic {
#ifdef COMMITTED_FIRST
		committed[1] = true;
		do
		:: i < NODES ->
			shm[i].state = COMMITTED;
			shm[i].epoch = 1;
			shm[i].plan[1].epoch = 1;
			shm[i].plan[1].until = NEVER;
			i++
		:: else -> i = 0; break
		od;
		do
		:: i < RANKS -> passed[i] = 1; i++
		:: else -> i = 0; break
		od;
#elif !defined(OPENING)
		do
		:: i < NODES -> shm[i].state = OPEN; i++
		:: else -> i = 0; break
		od;
#endif
#ifdef SECOND_LIFE
		i = 1;
		do
		:: i < NODES ->
			member_log[i]!(ENTRY(READY, 0) | EARLIER);
			if
			:: member_log[i]!(ENTRY(ACK, 1) | EARLIER)
			:: member_log[i]!(ENTRY(ACK, PROPOSALS) | EARLIER)
			:: member_log[i]!(ENTRY(NACK, 1) | EARLIER)
			:: member_log[i]!(ENTRY(DATA, 1) | EARLIER)
			fi;
			i++
		:: else -> i = 0; break
		od;
#endif
		do
		:: i < NODES -> run leader(i); i++
		:: else -> i = 0; break
		od;
		do
		:: i < RANKS -> run rank(i, NODE(i)); i++
		:: else -> i = 0; break
		od;
#if DEATHS > 0
		run killer()
#endif
	}
}
