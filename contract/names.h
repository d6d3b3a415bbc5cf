/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - every name and bound that two processes must spell alike */
#ifndef NT_NAMES_H
#define NT_NAMES_H

#define NT_OPTION "nccl-tune"
#define NT_PLUGIN_NAME "nccl_tune" /* as Slurm knows the SPANK plugin */

/* Environment. Only NT_ENV_POLICY, NT_ENV_BOARD, NT_ENV_WARM, NT_ENV_LAUNCH, NT_ENV_CHAINED_*,
 * NCCL's own plugin variables and those of a launch profile cross into a task. */
#define NT_ENV_POLICY "NCCL_TUNE_POLICY"
#define NT_ENV_SRUN "SLURM_NCCL_TUNE"
#define NT_ENV_SBATCH "SBATCH_NCCL_TUNE"
#define NT_ENV_SALLOC "SALLOC_NCCL_TUNE"
/* From srun to slurmstepd, whatever --export says: the launch profile with all that belongs to it,
 * and the remembered arms. */
#define NT_ENV_TICKET "SLURM_NCCL_TUNE_TICKET"
#define NT_ENV_SLURM_WARM "SLURM_NCCL_TUNE_WARM"
/* The settings of the user's file, key=value[,key=value]...: below every option. */
#define NT_ENV_USER_FILE "SLURM_NCCL_TUNE_USER_FILE"
/* And from slurmstepd to the task: the same arms, and the launch profile that is in force. */
#define NT_ENV_WARM "NCCL_TUNE_WARM"
#define NT_ENV_LAUNCH "NCCL_TUNE_LAUNCH"
/* From slurmstepd to the task: where the node's sealed board is open, /proc/<task>/fd/<number>. */
#define NT_ENV_BOARD "NCCL_TUNE_BOARD"
#define NT_ENV_NCCL_TUNER "NCCL_TUNER_PLUGIN"
#define NT_ENV_NCCL_PROFILER "NCCL_PROFILER_PLUGIN"
/* What the user had in these two: loaded behind ours. */
#define NT_ENV_CHAINED_TUNER "NCCL_TUNE_CHAINED_TUNER"
#define NT_ENV_CHAINED_PROFILER "NCCL_TUNE_CHAINED_PROFILER"

/* From srun to slurmstepd: all nodes of the step have NCCL write what it sees of them. */
#define NT_ENV_TOPOLOGY "SLURM_NCCL_TUNE_TOPOLOGY"
/* Where NCCL writes its graphs and the node's devices, and which rank of a communicator does. */
#define NT_ENV_GRAPH_FILE "NCCL_GRAPH_DUMP_FILE"
#define NT_ENV_GRAPH_RANK "NCCL_GRAPH_DUMP_FILE_RANK"
#define NT_ENV_SYSTEM_FILE "NCCL_TOPO_DUMP_FILE"
#define NT_ENV_SYSTEM_RANK "NCCL_TOPO_DUMP_FILE_RANK"

/* Site defaults, each overridable by a plugstack argument. */
#define NT_RUN_DIR "/run/nccl-tune" /* root-owned parent of the steps' runtime directories */
#define NT_SPOOL_DIR "/var/spool/nccl-tune" /* records until accounting is known to have them */

/* In it, beside the records that wait. */
#define NT_SPOOL_SENT "sent" /* slurmctld has taken them */
#define NT_SPOOL_DEAD "dead" /* they cannot be delivered */

#define NT_TIDY_FILE "tidied" /* in NT_RUN_DIR: locked while it is tidied up, and when that was */

/* Files of a step's runtime directory. */
#define NT_BOARD_FILE "board" /* followed by .<layout version>; empty where a sealed one is used */
/* The name of a sealed one: layout version, node, job, step. */
#define NT_BOARD_SEALED "nccl-tune-board.%u.%s.%u.%u"
/* What NCCL has written, nccl-graphs.<task>.xml, until it is known which communicator it is of:
 * nccl-graphs.<id>.<rank>.<ranks>.<nodes>.xml */
#define NT_GRAPHS_PREFIX "nccl-graphs."
#define NT_SYSTEM_PREFIX "nccl-system."
#define NT_DUMP_SUFFIX ".xml"
#define NT_RECORD_PREFIX "rank." /* rank.<task>.<pid>.json, written to a .tmp name and renamed */
#define NT_RECORD_SUFFIX ".json"

/* The job's record in AdminComment: {"nccl_tune":{"v":1,"<step>":{...},...}} */
#define NT_RECORD_KEY "nccl_tune"
#define NT_RECORD_VERSION 1

#define NT_POLICY_MAX 1024 /* canonical policy string, with its NUL */
#define NT_WARM_TEXT_MAX 8192 /* NT_ENV_WARM's text, with its NUL */
#define NT_PATH_MAX 256 /* any path of ours, with its NUL */
#define NT_LAUNCH_NAME 33 /* a launch profile's name, "off" or "auto", with its NUL */
#define NT_STEP_NAME_MAX 16 /* "0", "4294967295", "0+127" or "batch", with its NUL */
#define NT_RANK_RECORD_MAX (256 * 1024) /* one rank's record file, bytes */
#define NT_STEP_RECORD_MAX 3072 /* one step's part of the job record, bytes */
#define NT_JOB_RECORD_MAX 4096 /* what we add to AdminComment in all, bytes */
#define NT_HOLD_STEP_MS 1000 /* the longest a step may be held by us */

#endif
