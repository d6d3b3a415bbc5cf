/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of nccl-tune-bench that need no GPU: options, arithmetic and files. */
#include <math.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "bench/figure.h"
#include "bench/meet.h"
#include "bench/options.h"
#include "bench/pace.h"

static int parse(struct nt_bench_options *o, char **argv, struct nt_error *err)
{
	bool help;
	int argc = 0;

	while (argv[argc])
		argc++;
	return nt_bench_parse(o, argc, argv, &help, err);
}

static void reads_all_options(void **state)
{
	struct nt_bench_options o;
	struct nt_error err;
	char *argv[] = { "bench",
			 "--coll",
			 "allreduce,ReduceScatter",
			 "--sizes=4,64K,3M,1G",
			 "--iters=80",
			 "--rank=3",
			 "--ranks=8",
			 "--split",
			 "stride:4",
			 "--split-share",
			 "--simulate-on=3@7",
			 "--mode=burst",
			 "--burst=5",
			 "--check=2",
			 "--nccl=/a/libnccl.so.2",
			 "--even=16M",
			 "--seconds=20",
			 "--last-seconds=5",
			 "--abort-every=40",
			 NULL };

	assert_int_equal(parse(&o, argv, &err), 0);
	assert_int_equal(o.colls, 2);
	assert_int_equal(o.coll[1], NT_REDUCESCATTER);
	assert_int_equal(o.sizes, 4);
	assert_int_equal(o.size_bytes[1], 65536);
	assert_int_equal(o.size_bytes[2], 3 << 20);
	assert_int_equal(o.size_bytes[3], 1 << 30);
	assert_int_equal(o.split, NT_SPLIT_STRIDE);
	assert_int_equal(o.split_ranks, 4);
	assert_true(o.split_share);
	assert_int_equal(o.simulate_rank, 3);
	assert_int_equal(o.simulate_every, 7);
	assert_int_equal(o.mode, NT_BENCH_BURST);
	assert_int_equal(o.check_every, 2);
	assert_string_equal(o.nccl_path, "/a/libnccl.so.2");
	assert_int_equal(o.even_bytes, 16 << 20);
	assert_true(o.seconds == 20 && o.last_seconds == 5);
	assert_int_equal(o.abort_every, 40);
}

static void takes_its_place_from_slurm(void **state)
{
	struct nt_bench_options o;
	struct nt_error err;
	char *argv[] = { "bench", NULL };

	setenv("SLURM_PROCID", "5", 1);
	setenv("SLURM_NTASKS", "6", 1);
	setenv("SLURM_LOCALID", "1", 1);
	setenv("SLURM_NNODES", "3", 1);
	assert_int_equal(parse(&o, argv, &err), 0);
	assert_int_equal(o.rank, 5);
	assert_int_equal(o.ranks, 6);
	assert_int_equal(o.local_rank, 1);
	assert_int_equal(o.nodes, 3);
	unsetenv("SLURM_PROCID");
	unsetenv("SLURM_NTASKS");
	unsetenv("SLURM_LOCALID");
	unsetenv("SLURM_NNODES");
}

static void calls_are_listed_with_their_sizes(void **state)
{
	char *argv[] = { "bench", "--ranks=4", "--calls=allreduce:64K,AllGather:4,alltoall:1M",
			 "--channel=3", NULL };
	struct nt_bench_options o;
	struct nt_error err;

	assert_int_equal(parse(&o, argv, &err), 0);
	assert_true(o.listed);
	assert_int_equal(o.channel, 3);
	assert_int_equal(o.sizes, 3);
	assert_int_equal(o.size_coll[0], NT_ALLREDUCE);
	assert_int_equal(o.size_coll[2], NT_P2P_ALLTOALL);
	assert_int_equal(o.size_bytes[1], 4);
}

static void refuses_what_is_wrong(void **state)
{
	static const char *const wrong[] = {
		"--coll=send",
		"--coll=",
		"--coll=allreduce,,reduce",
		"--sizes=2",
		"--sizes=64Q",
		"--sizes=1K,",
		"--sizes=6",
		"--sizes=128G",
		"--iters=0",
		"--iters=1x",
		"--iters=",
		"--mode=fast",
		"--split=block",
		"--split=row:2",
		"--split=block:3",
		"--simulate-on=1",
		"--simulate-on=x@3",
		"--simulate-on=9@3",
		"--split-share=1",
		"--rank=4",
		"--unknown",
		"word",
		"--even=1Q",
		"--seconds=5",
		"--abort-every=0",
		"--calls=",
		"--calls=64K",
		"--calls=send:64K",
		"--calls=reduce:64K,",
		"--calls=reduce:6",
		"--channel=2",
		"--stall",
		"--check=0",
		"--check=lightly",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char word[64];
		char *argv[] = { "bench", "--ranks=4", word, NULL };
		struct nt_bench_options o;
		struct nt_error err = { "" };

		snprintf(word, sizeof(word), "%s", wrong[i]);
		if (parse(&o, argv, &err) != -1 || err.text[0] == '\0')
			fail_msg("%s was accepted", word);
	}
}

static void counts_as_nccl_tests(void **state)
{
	struct nt_counts c = nt_figure_counts(NT_ALLREDUCE, 1024, 8);

	assert_int_equal(c.call, 256);
	assert_int_equal(c.bytes, 1024);
	c = nt_figure_counts(NT_ALLGATHER, 1024, 8);
	assert_int_equal(c.call, 32);
	assert_int_equal(c.send, 32);
	assert_int_equal(c.receive, 256);
	c = nt_figure_counts(NT_REDUCESCATTER, 1024, 8);
	assert_int_equal(c.send, 256);
	assert_int_equal(c.receive, 32);
	c = nt_figure_counts(NT_ALLGATHER, 4, 8);
	assert_int_equal(c.call, 1);
	assert_int_equal(c.bytes, 32);
	c = nt_figure_counts(NT_P2P_ALLTOALL, 1024, 8);
	assert_true(c.send == 256 && c.receive == 256 && c.call == 32);
	assert_true(fabs(nt_coll_bus_factor(NT_ALLREDUCE, 8) - 1.75) < 1e-12);
	assert_true(fabs(nt_coll_bus_factor(NT_ALLGATHER, 4) - 0.75) < 1e-12);
	assert_true(fabs(nt_coll_bus_factor(NT_REDUCE, 4) - 1) < 1e-12);
}

static void gives_quartiles(void **state)
{
	float values[] = { 5, 1, 4, 2, 3 };
	struct nt_quartiles q = nt_figure_quartiles(values, 5);

	assert_true(q.median == 3 && q.p25 == 2 && q.p75 == 4 && q.min == 1 && q.mean == 3);
	q = nt_figure_quartiles(values, 4);
	assert_true(q.median == 2.5 && q.p25 == 1.75);
	q = nt_figure_quartiles(values, 1);
	assert_true(q.median == 1 && q.p75 == 1);
	assert_int_equal(nt_figure_quartiles(values, 0).samples, 0);
}

#define RANKS 4
#define FLOATS 1000

/* The collective's result on member `me`, computed in the simplest way. */
static void reference(int coll, const int *ranks, int me, struct nt_counts counts, float *out)
{
	for (size_t i = 0; i < counts.receive; i++) {
		size_t at = coll == NT_REDUCESCATTER ? (size_t)me * counts.receive + i : i;

		out[i] = 0;
		for (int r = 0; r < RANKS; r++)
			out[i] += nt_figure_input(ranks[r], at);
		if (coll == NT_BROADCAST)
			out[i] = nt_figure_input(ranks[0], i);
		if (coll == NT_ALLGATHER)
			out[i] = nt_figure_input(ranks[i / counts.send], i % counts.send);
		if (coll == NT_P2P_ALLTOALL)
			out[i] = nt_figure_input(ranks[i / counts.call],
						 (size_t)me * counts.call + i % counts.call);
		if (coll == NT_P2P_SENDRECV)
			out[i] = nt_figure_input(ranks[(me + RANKS - 1) % RANKS], i);
	}
}

static void knows_right_from_wrong(void **state)
{
	static const int ranks[RANKS] = { 1, 3, 5, 7 };
	float out[FLOATS];

	for (int coll = 0; coll < NT_KINDS; coll++) {
		struct nt_counts counts = nt_figure_counts(coll, sizeof(out), RANKS);
		const struct nt_piece all = { 0, counts.receive };

		for (int me = 0; me < RANKS; me++) {
			const size_t at = counts.receive / 2;

			reference(coll, ranks, me, counts, out);
			assert_int_equal(nt_figure_wrong(coll, ranks, RANKS, me, out, counts, all),
					 0);
			out[at] += 1;
			out[counts.receive - 1] = NAN;
			assert_int_equal(nt_figure_wrong(coll, ranks, RANKS, me, out, counts, all),
					 coll == NT_REDUCE && me ? 0 : 2);
		}
	}
}

/* A whole result in pieces, and a piece with an error. */
static void looks_at_pieces(void **state)
{
	static const int ranks[RANKS] = { 1, 3, 5, 7 };
	float out[FLOATS];

	for (int coll = 0; coll < NT_KINDS; coll++) {
		struct nt_counts counts = nt_figure_counts(coll, sizeof(out), RANKS);
		bool last = false;

		reference(coll, ranks, 0, counts, out);
		out[counts.receive - 1] += 1;
		for (unsigned number = 0; number < 40; number++) {
			struct nt_piece piece = nt_figure_piece(counts, 77, number);

			assert_int_equal(piece.count, 77);
			assert_true(piece.first + piece.count <= counts.receive);
			last = piece.first + piece.count == counts.receive;
			assert_true(number > 0 || last);
			assert_int_equal(nt_figure_wrong(coll, ranks, RANKS, 0, out + piece.first,
							 counts, piece),
					 last);
		}
		assert_int_equal(nt_figure_piece(counts, 1 << 20, 3).count, counts.receive);
		assert_int_equal(nt_figure_piece(counts, 1 << 20, 3).first, 0);
	}
}

/* Rounds of 10 ms after a slow start: seven seconds, of which two are the last part. The other
 * ranks know as much as rank 0. */
static void keeps_pace(void **state)
{
	struct nt_bench_pace pace, other;
	unsigned looks = 0;
	int iteration;

	nt_pace_init(&pace, 5, 2);
	nt_pace_init(&other, 5, 2);
	for (iteration = 0; iteration < pace.plan[1] && iteration < 10000; iteration++) {
		assert_int_equal(nt_pace_due(&pace, iteration), nt_pace_due(&other, iteration));
		if (!nt_pace_due(&pace, iteration))
			continue;
		nt_pace_look(&pace, iteration, 1.5 + 0.01 * iteration);
		memcpy(other.plan, pace.plan, sizeof(pace.plan));
		nt_pace_told(&pace, iteration);
		nt_pace_told(&other, iteration);
		looks++;
	}
	assert_in_range(iteration, 540, 560);
	assert_in_range(pace.plan[0], 340, 360);
	assert_true(looks <= 9);
	/* An iteration longer than the whole time: one more, and a last part. */
	nt_pace_init(&pace, 5, 2);
	nt_pace_look(&pace, 2, 100);
	assert_int_equal(pace.plan[0], 3);
	assert_int_equal(pace.plan[1], 4);
}

static void meets(void **state)
{
	char dir[] = "/tmp/nt-bench-test.XXXXXX";
	const struct nt_meet meet = { .dir = dir, .run = "7.0" };
	const struct nt_meet other = { .dir = dir, .run = "7.1" };
	struct nt_error err;
	char data[100] = "";

	assert_non_null(mkdtemp(dir));
	assert_int_equal(nt_meet_put(&meet, "id", "1234567", 8, &err), 0);
	assert_int_equal(nt_meet_get(&other, "id", data, 8, 1, &err), -1);
	assert_int_equal(nt_meet_get(&meet, "id", data, 8, 1, &err), 0);
	assert_string_equal(data, "1234567");
	assert_int_equal(nt_meet_get(&meet, "id", data, 100, 1, &err), -1);
	assert_non_null(strstr(err.text, "8 bytes of 100"));
	nt_meet_remove(&meet, "id");
	assert_int_equal(rmdir(dir), 0);
}

static void says_where_it_cannot_meet(void **state)
{
	const struct nt_meet meet = { .dir = "/nonexistent", .run = "0.0" };
	struct nt_error err;

	assert_int_equal(nt_meet_put(&meet, "id", "x", 1, &err), -1);
	assert_non_null(strstr(err.text, "/nonexistent/"));
}

UNIT_TESTS(reads_all_options, takes_its_place_from_slurm, calls_are_listed_with_their_sizes,
	   refuses_what_is_wrong, counts_as_nccl_tests, gives_quartiles, knows_right_from_wrong,
	   looks_at_pieces, keeps_pace, meets, says_where_it_cannot_meet);
