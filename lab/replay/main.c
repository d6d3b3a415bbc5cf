/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - nt-replay: decisions of jobs and on traces */
#include "lab/replay/command.h"

int main(int argc, char *argv[])
{
	return nt_replay_command(argc, argv);
}
