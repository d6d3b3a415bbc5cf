/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a step's program: command lines as users write them after srun. */
#include "tests/lib/unit.h"
#include "launch/program.h"

#define WORDS 64

static const struct {
	const char *line, *name;
} cases[] = {
	{ "", "" },
	{ "./train", "train" },
	{ "train_gpt", "train_gpt" },
	{ "/opt/a/bin/train 5 --lr=1e-3", "train" },
	{ "./test -b 8", "test" },
	{ "hostname", "hostname" },
	{ "bash -c 'nvidia-smi -L'", "" },
	{ "./build/all_reduce_perf -b 8 -e 128M -f 2 -g 1", "all_reduce_perf" },
	{ "/data/a+b", "a_b" },
	{ "'python train.py --master 10.0.0.1'", "" },

	/* Python */
	{ "python3 -u src/train.py --data x.csv", "train.py" },
	{ "/opt/conda/bin/python3.11 train.py", "train.py" },
	{ "python -m pkg.train x", "pkg.train" },
	{ "python -um pkg.train x", "pkg.train" },
	{ "python -W ignore -X faulthandler scripts/train", "train" },
	{ "python -c 'import torch; print(torch.cuda.device_count())'", "" },
	{ "python - 5", "" },
	{ "python -m cProfile -o out.prof train.py", "train.py" },
	{ "sh -c 'python -m pip install -e .'", "" },
	{ "python -u scripts/3_Transformer_DDP.py", "3_Transformer_DDP.py" },
	{ "python -m nemo.collections.language_modeling.megatron_gpt_pretraining",
	  "ctions.language_modeling.megatron_gpt_pretraining" + 2 },

	/* what starts ranks */
	{ "torchrun --nproc-per-node 8 pre train.py", "train.py" },
	{ "torchrun --nnodes 2 --nproc_per_node 4 --rdzv_id 7 --rdzv_backend c10d "
	  "--rdzv_endpoint node01:29500 /mnt/project/train.py --config template.yaml",
	  "train.py" },
	{ "torchrun --nproc_per_node 8 --local-ranks-filter 0 --role rank --tee 3 "
	  "-m torchtitan.train --job.config_file llama3.toml",
	  "torchtitan.train" },
	{ "torchrun -m --nproc_per_node 2 pkg.train --x 1", "pkg.train" },
	{ "torchrun --standalone --nproc_per_node=4 --no-python ./app --lr 1", "app" },
	{ "torchrun --an-option-of-tomorrow --nnodes 2 train.py", "train.py" },
	{ "python -u -m torch.distributed.run --nproc_per_node 8 --nnodes 4 --master_addr node01 "
	  "--master_port 6000 --max_restarts 0 --tee 3 pretrain_gpt.py --bf16",
	  "pretrain_gpt.py" },
	{ "python -m torch.distributed.launch --use_env --nproc_per_node 8 main.py", "main.py" },
	{ "python /opt/venv/bin/torchrun --nproc_per_node 2 main.py", "main.py" },
	{ "accelerate launch --multi_gpu --num_processes 16 --num_machines 2 --machine_rank 0 "
	  "--main_process_ip node01 --main_process_port 29500 --mixed_precision=bf16 train.py",
	  "train.py" },
	{ "accelerate launch --config_file fsdp.yaml -m axolotl.cli.train cfg.yaml",
	  "axolotl.cli.train" },
	{ "accelerate launch --config_file offload.yaml llamafactory-cli train full.yaml",
	  "llamafactory-cli" },
	{ "deepspeed --num_gpus 8 --hostfile hosts --master_port 9901 run_clm.py "
	  "--deepspeed ds_config.json",
	  "run_clm.py" },
	{ "deepspeed --include localhost:0,1 --module fastchat.train.train",
	  "fastchat.train.train" },
	{ "lightning run model --accelerator=cuda --devices 4 train.py", "train.py" },
	{ "fabric run --devices 2 ./pretrain.py --size 7b", "pretrain.py" },
	{ "tune run --nproc_per_node 8 lora_finetune_distributed --config llama3/8B_lora",
	  "lora_finetune_distributed" },
	{ "mpirun -np 8 --mca btl ^openib -x LD_LIBRARY_PATH --bind-to none -H a:4,b:4 "
	  "python3 train.py",
	  "train.py" },
	{ "mpiexec -n 4 -genv NCCL_DEBUG INFO ./all_gather_perf -b 1M", "all_gather_perf" },
	{ "horovodrun -np 4 -H localhost:4 python keras_mnist.py", "keras_mnist.py" },
	{ "axolotl train config.yaml", "axolotl" },
	{ "ray job submit -- python grpo.py", "grpo.py" },

	/* around the program */
	{ "env -u OMP_NUM_THREADS NCCL_DEBUG=INFO python train.py", "train.py" },
	{ "nice -n 10 time -p timeout -k 30 2h stdbuf -oL -e L ./a.out", "a.out" },
	{ "numactl --cpunodebind 0 -m 0 python train.py", "train.py" },
	{ "numactl --membind=0-3 python3 train.py --profile", "train.py" },
	{ "taskset -c 0-15,32 ./a.out", "a.out" },
	{ "taskset 0xff ./a.out", "a.out" },
	{ "nsys profile -s none -w true --trace=nvtx,cuda -o /scratch/trace.%q{SLURM_PROCID} "
	  "--force-overwrite true --capture-range=cudaProfilerApi -x true numactl --membind=0 "
	  "python3 train.py",
	  "train.py" },
	{ "ncu --target-processes all -f -o report --set full python train.py", "train.py" },
	{ "strace -f -e trace=read -o log -- uv run python -m ai4land.profile --name x",
	  "ai4land.profile" },
	{ "uv run --with torch --no-sync train.py", "train.py" },
	{ "uv run -m pkg.train", "pkg.train" },
	{ "conda run -n torch --no-capture-output python train.py", "train.py" },
	{ "bash -c 'conda activate torch'", "" },

	/* containers */
	{ "apptainer exec --nv -B /srv,/home --env-file .env /sw/torch.sif python sliding.py n=4",
	  "sliding.py" },
	{ "apptainer run --nv mpibase.sif your_script.py", "your_script.py" },
	{ "singularity exec --nv -B .:/exp /images/bark.img python3 -u ./runfiles/configuration",
	  "configuration" },
	{ "singularity exec --nv --bind /p:/p image.sif bash -c \"cd /p/code && python train.py\"",
	  "train.py" },
	{ "singularity exec --nv t.sif torchrun --nnodes 1 --rdzv-id 7 --rdzv-endpoint n1:26500 "
	  "/home/u/pipelined.py",
	  "pipelined.py" },
	{ "singularity exec --nv nccl.sif", "" },
	{ "docker run --rm --gpus all --ipc=host -v a:b pytorch:24.05 python /w/train.py",
	  "train.py" },
	{ "enroot start --rw -m /data:/data nemo python train.py", "train.py" },

	/* shells */
	{ "bash", "" },
	{ "bash -c /home/u/run.sh", "run.sh" },
	{ "bash -e train.sh 8", "train.sh" },
	{ "sh tools/train_scripts/oacnn_mixed.sh", "oacnn_mixed.sh" },
	{ "bash -c 'CUDA_LAUNCH_BLOCKING=1 python simclr.py --config env.yml'", "simclr.py" },
	{ "bash -c 'hostname; python simclr.py; echo done'", "simclr.py" },
	{ "bash -lc 'source ~/.bashrc && conda activate r2 && accelerate launch --gpu_ids \"0\" "
	  "--num_processes 1 src/gen.py --x 1 && python src/winrate.py'",
	  "gen.py" },
	{ "bash -c 'python prepare.py && ./train'", "train" },
	{ "/bin/bash -euo pipefail -c 'exec ./train'", "train" },
	{ "sh -c 'export TRITON_CACHE_DIR=/tmp/t_${SLURM_NODEID}; echo python -u a/train.py --x; "
	  "python -u a/train.py --x'",
	  "train.py" },
	{ "bash -c 'torchrun --nnodes=2 --rdzv_conf=is_host=$(if ((SLURM_NODEID)); then echo 0; "
	  "else echo 1; fi) --rdzv_endpoint=n1:9469 \\\n train.py'",
	  "train.py" },
	{ "bash -c '\n# the environment\nif [ -f env.sh ]; then . env.sh; fi\n"
	  "pip install -q \"numpy>=2\" > /dev/null 2>&1\n"
	  "RANK=$SLURM_PROCID python -u records/train_gpt.py | tee log\n'",
	  "train_gpt.py" },
	{ "bash -c 'cat > f.py <<EOF\nimport torch\nmain()\nEOF\npython f.py'", "f.py" },
	{ "bash -c 'for i in 1 2; do $PYTHON $DIR/bench.py --n $i; done'", "bench.py" },
	{ "bash -c 'exec \"$@\"' -- python train.py", "train.py" },
	{ "bash -c 'torchrun --nproc_per_node 8 $(which fairseq-hydra-train) --config-dir c'",
	  "fairseq-hydra-train" },
	{ "bash -c 'cd /opt/NeMo; git rev-parse HEAD; export PYTHONPATH=/opt/NeMo:${PYTHONPATH}; "
	  "CUDA_DEVICE_MAX_CONNECTIONS=1 python3 -u examples/megatron_gpt_pretraining.py "
	  "--config-path=/results'",
	  "megatron_gpt_pretraining.py" },
	{ "bash -c 'while true; do nvidia-smi; sleep 1; done & python t.py; kill %1'", "t.py" },
	{ "bash -c '$CMD'", "" },
	{ "bash -c 'eval \"$CMD\"'", "" },
	{ "bash -c 'sleep 5; date'", "" },
	{ "bash -c 'ray start --head --port 6379 --block'", "ray" },

	/* wrappers of one's own */
	{ "./launch.sh train.py --lr 1", "train.py" },
	{ "install.sh python Pretrain_11.py x", "Pretrain_11.py" },
	{ "./select_gpu python -m pkg.train", "pkg.train" },
	{ "./bind.sh ./vasp", "bind.sh" },
	{ "bash finetune.sh deepspeed", "finetune.sh" },
	{ "$LAUNCHER train.py", "train.py" },
};

/* The words of a line, which a shell would make of it before srun sees them: quotes join, and a
 * backslash protects what follows it in double quotes. */
static int split(const char *line, char *room, char *words[])
{
	int count = 0;

	while (*(line += strspn(line, " ")) && count < WORDS) {
		char quote = '\0';

		words[count++] = room;
		for (; *line && (quote || *line != ' '); line++) {
			if (*line == quote)
				quote = '\0';
			else if (!quote && (*line == '\'' || *line == '"'))
				quote = *line;
			else
				*room++ = quote == '"' && *line == '\\' && line[1] ? *++line
										   : *line;
		}
		*room++ = '\0';
	}
	return count;
}

static void programs_are_known_by_their_names(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *room = malloc(strlen(cases[i].line) + 2), *words[WORDS];
		char name[NT_PROGRAM_NAME];
		const int count = split(cases[i].line, room, words);

		nt_program_name(count, words, name, sizeof(name));
		if (strcmp(name, cases[i].name) != 0)
			fail_msg("%s: \"%s\" instead of \"%s\"", cases[i].line, name,
				 cases[i].name);
		assert_int_equal(nt_program_valid(name, sizeof(name)), name[0] != '\0');
		free(room);
	}
	assert_false(nt_program_valid("a b", NT_PROGRAM_NAME));
	assert_false(nt_program_valid("abc", 3));
}

/* Any text ends, stays in its memory, and gives a name or none. */
static void any_words_give_a_valid_name(void **state)
{
	static const char *const pieces[] = {
		"bash",	  " ",	      "-c",  "'",      "\"",	  "$(",	      ")",
		"${",	  "}",	      "`",   "\\",     "\n",	  "<<E",      ">",
		"#",	  "&&",	      ";",   "nsys",   "profile", "python",   "-m",
		"a/b.py", "=",	      "--x", "mpirun", "--mca",	  "\xc3\xa9", "apptainer",
		"exec",	  "torchrun", "sh",  "1",      "$x"
	};
	unsigned seed = 1;

	for (int round = 0; round < 20000; round++) {
		char text[512] = "bash -c '", name[NT_PROGRAM_NAME], *words[WORDS];
		const size_t start = round % 2 ? 9 : 0;
		char *room, *exact;

		for (size_t length = start; length < sizeof(text) - 16;) {
			seed = seed * 1103515245u + 12345u;
			if (seed >> 16 & 1)
				text[length++] = ' ';
			length += (size_t)snprintf(
				text + length, sizeof(text) - length, "%s",
				pieces[(seed >> 17) % (sizeof(pieces) / sizeof(pieces[0]))]);
			if ((seed >> 24) % 40 == 0)
				break;
		}
		room = malloc(strlen(text) + 2);
		exact = strdup(text);
		nt_program_name(split(exact, room, words), words, name, sizeof(name));
		assert_true(!*name || nt_program_valid(name, sizeof(name)));
		words[0] = (char[]){ "sh" };
		words[1] = (char[]){ "-c" };
		words[2] = exact;
		nt_program_name(3, words, name, sizeof(name));
		assert_true(!*name || nt_program_valid(name, sizeof(name)));
		free(exact);
		free(room);
	}
}

UNIT_TESTS(programs_are_known_by_their_names, any_words_give_a_valid_name);
