# SPDX-FileCopyrightText: 2026 The nccl-tune authors
# SPDX-License-Identifier: Apache-2.0
# What is read. tests/lint/archive.bats compares the archive with the tracked files.

dist_man_MANS = \
	%D%/man/nccl-tune-memory.5 \
	%D%/man/nccl-tune-profiles.5 \
	%D%/man/nccl-tune-record.5 \
	%D%/man/nccl-tune.1 \
	%D%/man/nccl-tune.7 \
	%D%/man/spank_nccl_tune.8

EXTRA_DIST += \
	%D%/agreement.md \
	%D%/costs.md \
	%D%/decisions/0001-turns.md \
	%D%/decisions/0002-recordd.md \
	%D%/decisions/0003-two-rounds.md \
	%D%/decisions/0004-reward.md \
	%D%/decisions/0005-rechecks.md \
	%D%/decisions/0006-chaining.md \
	%D%/decisions/0007-arms.md \
	%D%/decisions/0008-period.md \
	%D%/decisions/0009-one-communicator-at-a-time.md \
	%D%/decisions/0010-ll.md \
	%D%/decisions/0011-rooms.md \
	%D%/decisions/0012-ticket.md \
	%D%/decisions/0013-remembered-arms.md \
	%D%/decisions/0014-worth.md \
	%D%/decisions/0015-savings.md \
	%D%/decisions/0020-old-glibc.md \
	%D%/design.md \
	%D%/glossary.md \
	%D%/gpu.md \
	%D%/guide-admin.md \
	%D%/guide-user.md \
	%D%/hosts.md \
	%D%/programs.md \
	%D%/trouble.md \
	%D%/results/README.md \
	%D%/results/agreement/README.md \
	%D%/results/agreement/agree.json \
	%D%/results/agreement/cost.json \
	%D%/results/agreement/kills-2.csv \
	%D%/results/agreement/kills.csv \
	%D%/results/agreement/kills.md \
	%D%/results/agreement/larger.json \
	%D%/results/agreement/mutants.txt \
	%D%/results/agreement/runs.json \
	%D%/results/agreement/sizes.json \
	%D%/results/agreement/spin.txt \
	%D%/results/agreement/versions.txt \
	%D%/results/h200-x2-learn/README.md \
	%D%/results/h200-x2-learn/first.csv \
	%D%/results/h200-x2-learn/first.txt \
	%D%/results/h200-x2-learn/second.csv \
	%D%/results/h200-x2-learn/second.txt \
	%D%/results/h200-x2-learn/third.csv \
	%D%/results/h200-x2-learn/third.txt \
	%D%/results/h200-x2-learn/versions.txt \
	%D%/results/h200-x2/README.md \
	%D%/results/h200-x2/correct.txt \
	%D%/results/h200-x2/launch-runs.csv \
	%D%/results/h200-x2/launch.csv \
	%D%/results/h200-x2/launch.txt \
	%D%/results/h200-x2/versions.txt \
	%D%/results/h200-x4-engine/README.md \
	%D%/results/h200-x4-engine/alone-runs.csv \
	%D%/results/h200-x4-engine/alone.csv \
	%D%/results/h200-x4-engine/correct.txt \
	%D%/results/h200-x4-engine/load-runs.csv \
	%D%/results/h200-x4-engine/load.csv \
	%D%/results/h200-x4-engine/node-runs.csv \
	%D%/results/h200-x4-engine/node.csv \
	%D%/results/h200-x4-engine/shaped-runs.csv \
	%D%/results/h200-x4-engine/shaped.csv \
	%D%/results/h200-x4-engine/steady-runs.csv \
	%D%/results/h200-x4-engine/steady.csv \
	%D%/results/h200-x4-engine/versions.txt \
	%D%/results/h200-x4/groups.json \
	%D%/results/h200-x4/records.json \
	%D%/results/h200-x4/results.csv \
	%D%/results/h200-x4/settle.txt \
	%D%/results/h200-x4/summary.txt \
	%D%/results/h200-x4/versions.txt \
	%D%/results/programs/README.md \
	%D%/results/programs/programs.txt \
	%D%/results/rules/README.md \
	%D%/results/rules/families.txt \
	%D%/results/rules/rules.json \
	%D%/results/warm/README.md \
	%D%/results/warm/runs.csv
