/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - names and limits that two processes must agree on */
#ifndef NT_NAMES_H
#define NT_NAMES_H

#define NT_OPTION "nccl-tune"

/* Environment. Only NT_ENV_POLICY, NT_ENV_NODE, NT_ENV_WARM, NT_ENV_LAUNCH, NT_ENV_CHAINED_*,
 * NCCL's plugin variables and those of a launch profile reach a task. */
#define NT_ENV_POLICY "NCCL_TUNE_POLICY"
#define NT_ENV_SRUN "SLURM_NCCL_TUNE"
#define NT_ENV_SBATCH "SBATCH_NCCL_TUNE"
#define NT_ENV_SALLOC "SALLOC_NCCL_TUNE"
/* Slurm's: the partition of the job, and the option of the job around the step. */
#define NT_ENV_PARTITION "SLURM_JOB_PARTITION"
#define NT_ENV_JOB_OPTION "SLURM_SPANK__SLURM_SPANK_OPTION_nccl_tune_nccl_tune"
/* From srun to slurmstepd, whatever --export says: launch profile, what the tasks measure first
 * (launch/measure/request.h), remembered arms. */
#define NT_ENV_TICKET "SLURM_NCCL_TUNE_TICKET"
#define NT_ENV_CALIBRATE "SLURM_NCCL_TUNE_CALIBRATE"
#define NT_CALIBRATES "nccl-tune-calibrate" /* of a step that only measures for others */
#define NT_ENV_SLURM_WARM "SLURM_NCCL_TUNE_WARM"
/* From slurmstepd to the task: what root has seen of the node (spank/step/node-facts.h), remembered
 * arms, launch profile. */
#define NT_ENV_NODE "NCCL_TUNE_NODE"
#define NT_NODE_UNASKED "none" /* the site wants no findings: no facts are read */
#define NT_ENV_WARM "NCCL_TUNE_WARM"
#define NT_ENV_LAUNCH "NCCL_TUNE_LAUNCH"
#define NT_ENV_NCCL_TUNER "NCCL_TUNER_PLUGIN"
#define NT_ENV_NCCL_PROFILER "NCCL_PROFILER_PLUGIN"
/* The user's plugins, chained behind ours. */
#define NT_ENV_CHAINED_TUNER "NCCL_TUNE_CHAINED_TUNER"
#define NT_ENV_CHAINED_PROFILER "NCCL_TUNE_CHAINED_PROFILER"

/* From srun to slurmstepd: NCCL is to dump its topology. */
#define NT_ENV_TOPOLOGY "SLURM_NCCL_TUNE_TOPOLOGY"
/* Where NCCL dumps its graphs and devices, and which rank of a communicator does. */
#define NT_ENV_GRAPH_FILE "NCCL_GRAPH_DUMP_FILE"
#define NT_ENV_GRAPH_RANK "NCCL_GRAPH_DUMP_FILE_RANK"
#define NT_ENV_SYSTEM_FILE "NCCL_TOPO_DUMP_FILE"
#define NT_ENV_SYSTEM_RANK "NCCL_TOPO_DUMP_FILE_RANK"

/* Defaults of keys in nccl-tune.conf. */
#define NT_RUN_DIR "/run/nccl-tune" /* root's: the fingerprint's cache, locks of jobs */
#define NT_CLUSTER_UNKNOWN "cluster" /* in file names, if Slurm has no cluster name */
#define NT_SPOOL_DIR "/var/spool/nccl-tune" /* records that accounting may not have yet */

/* Its subdirectories, next to the waiting records. */
#define NT_SPOOL_SENT "sent" /* accepted by slurmctld */

#define NT_SHM_FILE "shm" /* the node's memory, in reasons */
/* Its name: layout version, node, job, step. */
#define NT_SHM_SEALED "nccl-tune-shm.%u.%s.%u.%u"
/* A user's file in its place, where a launcher has closed it: node, job, step. */
#define NT_SHM_BESIDE "/dev/shm/nccl-tune.%s.%u.%u"

/* The job's record in AdminComment: {"nccl_tune":{"v":1,"<step>":{...},...}} */
#define NT_RECORD_KEY "nccl_tune"
#define NT_RECORD_VERSION 1

/* For printf: "2.28.9" of NCCL's version as it has it, 22809. */
#define NT_NCCL_TEXT "%u.%u.%u"
#define NT_NCCL_PARTS(version)                                            \
	(unsigned)((version) / 10000), (unsigned)((version) / 100 % 100), \
		(unsigned)((version) % 100)

#define NT_POLICY_MAX 1024 /* canonical policy string, with its NUL */
#define NT_WARM_TEXT_MAX 8192 /* NT_ENV_WARM's text, with its NUL */
#define NT_PATH_MAX 256 /* any path of ours, with its NUL */
#define NT_LIBRARY_MAX 512 /* the path of NCCL's library, with its NUL */
#define NT_LAUNCH_NAME 33 /* a launch profile's name, "off" or "auto", with its NUL */
#define NT_STEP_NAME_MAX 16 /* "0", "4294967295", "0+127" or "batch", with its NUL */
#define NT_RANK_RECORD_MAX (256 * 1024) /* one rank's record, bytes */
#define NT_STEP_RECORD_MAX 3072 /* one step's part of the job record, bytes */
#define NT_JOB_RECORD_MAX 4096 /* all we add to AdminComment, bytes */
#define NT_HOLD_STEP_MS 1000 /* the most that a step may be delayed */

/* Of a communicator, in shared memory and in records. */
enum nt_comm_state {
	NT_COMM_JOINING = 0,
	NT_COMM_AGREED, /* all ranks were seen and match */
	NT_COMM_REJECTED, /* not tuned, for a reason */
	NT_COMM_STATES
};

#endif
