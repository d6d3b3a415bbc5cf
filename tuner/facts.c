/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/facts.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#include "contract/names.h"
#include "lib/append.h"
#include "lib/list.h"
#include "lib/number.h"
#include "lib/printable.h"
#include "tuner/facts-net.h"

#define PATH_BYTES 1024
#define THREADS_MAX 1024 /* looked at */
#define CPU_BYTES 1024 /* of a set: 8192 processors */
#define GPUS_MAX 64
#define CONF_LINES_MAX 256
#define CAP_IPC_LOCK_BIT 14
#define CGROUPS_MAX 16 /* cgroups, one in another */

static bool has_bit(const unsigned char *bits, size_t bytes, size_t bit)
{
	return bit / 8 < bytes && bits[bit / 8] >> bit % 8 & 1;
}

bool nt_facts_list(const unsigned char *bits, size_t bytes, char *out, size_t out_bytes)
{
	out[0] = '\0';
	for (size_t first = 0, last; first < 8 * bytes; first = last + 1) {
		int cut;

		last = first;
		if (!has_bit(bits, bytes, first))
			continue;
		while (has_bit(bits, bytes, last + 1))
			last++;
		cut = nt_append(out, out_bytes, "%s%zu", out[0] ? "," : "", first);
		if (cut == 0 && last > first)
			cut = nt_append(out, out_bytes, "-%zu", last);
		if (cut < 0) {
			out[0] = '\0';
			return false;
		}
	}
	return true;
}

int64_t nt_facts_fewest(const char *per_node)
{
	int64_t fewest = -1;

	while (per_node && *per_node) {
		uint64_t number;
		const char *end = nt_number_read(per_node, 1u << 20, &number);

		if (!end || number == 0)
			return -1;
		if (fewest < 0 || (int64_t)number < fewest)
			fewest = (int64_t)number;
		per_node = end + strcspn(end, ",");
		per_node += *per_node == ',';
	}
	return fewest;
}

/* ---- processors */

static void add_thread(unsigned char all[CPU_BYTES], pid_t thread)
{
	_Alignas(cpu_set_t) unsigned char one[CPU_BYTES] = { 0 };

	if (sched_getaffinity(thread, sizeof(one), (cpu_set_t *)(void *)one) < 0)
		return;
	for (size_t i = 0; i < sizeof(one); i++)
		all[i] |= one[i];
}

static void look_at_threads(struct nt_facts *facts)
{
	unsigned char all[CPU_BYTES] = { 0 };
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	int64_t count = 0;

	for (int i = 0; tasks && i < THREADS_MAX && (entry = readdir(tasks)) != NULL; i++) {
		if (isdigit((unsigned char)entry->d_name[0]))
			add_thread(all, (pid_t)strtol(entry->d_name, NULL, 10));
	}
	if (tasks)
		closedir(tasks);
	for (size_t i = 0; i < 8 * sizeof(all); i++)
		count += has_bit(all, sizeof(all), i);
	if (count == 0)
		return;
	facts->cpu_count = count;
	(void)nt_facts_list(all, sizeof(all), facts->cpus, sizeof(facts->cpus));
}

/* Up to two numbers in a file; false: there is no such file. "max" is 0. */
static bool read_quota(const char *root, const char *directory, const char *file, double number[2])
{
	char path[PATH_BYTES], line[64], *end;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, file) >= sizeof(path) ||
	    !nt_facts_line(root, path, line, sizeof(line)))
		return false;
	number[0] = strtod(line, &end);
	number[1] = strtod(end, NULL);
	return true;
}

/* cpu.max, "200000 100000": two processors; "max 100000": all. v1 has two files. */
static void lower_quota(struct nt_facts *facts, const char *root, const char *directory)
{
	double quota[2] = { 0, 0 }, period[2];
	char path[2 * PATH_BYTES];
	struct stat cgroup;
	int fd;

	if (!read_quota(root, directory, "cpu.max", quota) &&
	    read_quota(root, directory, "cpu.cfs_quota_us", quota) &&
	    read_quota(root, directory, "cpu.cfs_period_us", period))
		quota[1] = period[0];
	if (quota[0] <= 0 || quota[1] <= 0 || facts->quota <= quota[0] / quota[1])
		return;
	facts->quota = quota[0] / quota[1];
	snprintf(path, sizeof(path), "%s%s", root, directory);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	facts->quota_cgroup = fd >= 0 && fstat(fd, &cgroup) == 0 ? (int64_t)cgroup.st_ino : -1;
	if (fd >= 0)
		close(fd);
}

/* cgroup: "/job/step"; those that it is in, too */
static void look_at_cgroups(struct nt_facts *facts, const char *root, const char *mount,
			    char *cgroup)
{
	char directory[PATH_BYTES];

	for (int i = 0; i < CGROUPS_MAX; i++) {
		char *slash = strrchr(cgroup, '/');

		if ((size_t)snprintf(directory, sizeof(directory), "%s%s", mount,
				     strcmp(cgroup, "/") == 0 ? "" : cgroup) < sizeof(directory))
			lower_quota(facts, root, directory);
		if (!slash || strcmp(cgroup, "/") == 0)
			break;
		slash[slash == cgroup] = '\0';
	}
}

static bool has_cpu(const char *controllers)
{
	return nt_list_has(controllers, ',', "cpu", 3);
}

/* "0::/job/step" of v2, "4:cpu,cpuacct:/job/step" of v1 */
static void look_at_quota(struct nt_facts *facts, const char *root)
{
	char path[PATH_BYTES], line[PATH_BYTES];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	f = fopen(path, "re");
	for (int i = 0; f && i < 2 * CGROUPS_MAX && fgets(line, sizeof(line), f); i++) {
		char *controllers = strchr(line, ':');
		char *cgroup = controllers ? strstr(controllers, ":/") : NULL;

		line[strcspn(line, "\n")] = '\0';
		if (!cgroup)
			continue;
		*cgroup = '\0';
		if (cgroup == controllers + 1)
			look_at_cgroups(facts, root, "/sys/fs/cgroup", cgroup + 1);
		else if (has_cpu(controllers + 1))
			look_at_cgroups(facts, root, "/sys/fs/cgroup/cpu", cgroup + 1);
	}
	if (f)
		fclose(f);
}

/* ---- file systems and limits */

static void look_at_shm(struct nt_facts *facts, const char *root)
{
	struct statvfs fs;
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/dev/shm", root);
	if (statvfs(path, &fs) < 0 || fs.f_blocks == 0)
		return;
	facts->shm_mb = (int64_t)(fs.f_blocks * fs.f_frsize >> 20);
	facts->shm_free_mb = (int64_t)(fs.f_bavail * fs.f_frsize >> 20);
}

static int64_t limit_of(int which, uint64_t unit)
{
	struct rlimit limit;

	if (getrlimit(which, &limit) < 0)
		return -1;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur / unit > NT_COUNT_MAX)
		return NT_COUNT_MAX;
	return (int64_t)(limit.rlim_cur / unit);
}

/* Root of the system may lock all; root of a user namespace may not. */
static int64_t memlock_of(const char *root)
{
	char path[PATH_BYTES], line[128];
	unsigned from = 1, to = 1, users = 0;
	uint64_t may = 0;
	FILE *f;

	if (nt_facts_line(root, "/proc/self/uid_map", line, sizeof(line)))
		(void)sscanf(line, "%u %u %u", &from, &to, &users);
	snprintf(path, sizeof(path), "%s/proc/self/status", root);
	f = fopen(path, "re");
	while (f && may == 0 && fgets(line, sizeof(line), f))
		(void)sscanf(line, "CapEff: %" SCNx64, &may);
	if (f)
		fclose(f);
	return from == 0 && to == 0 && users == UINT32_MAX && may >> CAP_IPC_LOCK_BIT & 1
		       ? NT_COUNT_MAX
		       : limit_of(RLIMIT_MEMLOCK, 1024);
}

/* ---- devices */

/* An instance of a GPU (MIG) reaches no other GPU. */
static void look_at_gpus(struct nt_facts *facts, const char *root)
{
	const char *devices = getenv("CUDA_VISIBLE_DEVICES");
	unsigned char open[GPUS_MAX / 8] = { 0 };
	int64_t count = 0;

	if (devices && strncmp(devices, "MIG-", 4) == 0)
		return;
	for (unsigned i = 0; i < GPUS_MAX; i++) {
		char path[PATH_BYTES];

		snprintf(path, sizeof(path), "%s/dev/nvidia%u", root, i);
		if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) < 0)
			continue;
		open[i / 8] = (unsigned char)(open[i / 8] | 1u << i % 8);
		count++;
	}
	if (count == 0)
		return;
	facts->gpu_count = count;
	(void)nt_facts_list(open, sizeof(open), facts->gpus, sizeof(facts->gpus));
}

static long package_of(const char *root, long cpu)
{
	char path[PATH_BYTES], line[16];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%ld/topology/physical_package_id",
		 cpu);
	return nt_facts_line(root, path, line, sizeof(line)) ? strtol(line, NULL, 10) : -1;
}

/* One bit for each socket of the processors in a list, "0-3,8"; all: not known. */
static uint64_t packages_of(const char *root, const char *list)
{
	uint64_t packages = 0;

	while (*list) {
		char *end;
		long first = strtol(list, &end, 10), last = first;

		if (end == list)
			return UINT64_MAX;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (; first <= last && first < 8 * CPU_BYTES; first++) {
			const long package = package_of(root, first);

			if (package < 0 || package >= 64)
				return UINT64_MAX;
			packages |= UINT64_C(1) << package;
		}
		list = end + (*end == ',');
	}
	return packages;
}

/* Is this directory of the driver that of the GPU with the device file? */
static bool is_device(const char *root, const char *gpu, long device)
{
	char path[PATH_BYTES], line[128];
	long minor = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus/%.32s/information", root, gpu);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "Device Minor:", 13) == 0)
			minor = strtol(line + 13, NULL, 10);
	}
	if (f)
		fclose(f);
	return minor == device;
}

/* Of a process that may use one GPU: it is not known which of several it uses. Nodes of one socket
 * are not asked how far their parts are from each other. */
static void look_at_distance(struct nt_facts *facts, const char *root)
{
	char path[PATH_BYTES], line[128];
	const struct dirent *entry;
	DIR *gpus;

	if (facts->gpu_count != 1 || !facts->cpus[0])
		return;
	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus", root);
	gpus = opendir(path);
	for (unsigned i = 0; gpus && i < GPUS_MAX && (entry = readdir(gpus)) != NULL; i++) {
		if (entry->d_name[0] == '.' ||
		    !is_device(root, entry->d_name, strtol(facts->gpus, NULL, 10)))
			continue;
		snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.32s/local_cpulist",
			 entry->d_name);
		if (nt_facts_line(root, path, line, sizeof(line)) && line[0])
			facts->gpu_far = (packages_of(root, facts->cpus) &
					  packages_of(root, line)) == 0;
	}
	if (gpus)
		closedir(gpus);
}

/* ---- the environment */

static void look_at_visible(struct nt_facts *facts)
{
	const char *devices = getenv("CUDA_VISIBLE_DEVICES");

	if (!devices)
		return;
	facts->visible = devices[0] != '\0';
	for (; *devices; devices++)
		facts->visible += *devices == ',';
}

/* File names without directories; what does not fit is left out. */
static void look_at_preload(struct nt_facts *facts)
{
	const char *at = getenv("LD_PRELOAD");

	while (at && *at) {
		size_t bytes = strcspn(at, " :");
		const char *name = memrchr(at, '/', bytes);
		size_t length = name ? bytes - (size_t)(name + 1 - at) : bytes;

		if (length > 0 && strlen(facts->preload) + length + 2 < sizeof(facts->preload))
			(void)nt_append(facts->preload, sizeof(facts->preload), "%s%.*s",
					facts->preload[0] ? " " : "", (int)length,
					name ? name + 1 : at);
		at += bytes;
		at += strspn(at, " :");
	}
	nt_printable_json(facts->preload);
}

static bool is_shared_type(const char *type)
{
	static const char *const types[] = { "nfs",    "nfs4",	"lustre",	  "gpfs",
					     "beegfs", "ceph",	"cifs",		  "wekafs",
					     "panfs",  "pvfs2", "fuse.glusterfs", "fuse.juicefs" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(type, types[i]) == 0)
			return true;
	}
	return false;
}

/* Is the path below this mount point? */
static bool is_below(const char *path, const char *point)
{
	size_t bytes = strlen(point);

	return strncmp(path, point, bytes) == 0 &&
	       (bytes == 1 || path[bytes] == '/' || path[bytes] == '\0');
}

/* By the longest mount point above it, the newest of several */
static bool is_shared(const char *root, const char *path)
{
	char whole[PATH_BYTES], line[2048], point[1024], type[64];
	size_t longest = 0;
	bool shared = false;
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/proc/self/mountinfo", root);
	f = fopen(whole, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *dash = strstr(line, " - ");

		if (!dash || sscanf(line, "%*s %*s %*s %*s %1023s", point) != 1 ||
		    sscanf(dash + 3, "%63s", type) != 1 || !is_below(path, point) ||
		    strlen(point) < longest)
			continue;
		longest = strlen(point);
		shared = is_shared_type(type);
	}
	if (f)
		fclose(f);
	return shared;
}

/* file: as in NCCL_DEBUG_FILE */
static bool is_shared_file(const char *root, const char *file)
{
	char directory[PATH_BYTES];

	if (strcmp(file, "stdout") == 0 || strcmp(file, "stderr") == 0)
		return false;
	return is_shared(root, file[0] == '/'			      ? file
			       : getcwd(directory, sizeof(directory)) ? directory
								      : "");
}

static void look_at_debug(struct nt_facts *facts, const char *root)
{
	const char *level = getenv("NCCL_DEBUG"), *file = getenv("NCCL_DEBUG_FILE");
	const char *name;

	if (!level)
		return;
	name = strcasecmp(level, "TRACE") == 0 ? "TRACE" : "INFO";
	if (strcasecmp(level, name) != 0)
		return;
	snprintf(facts->debug, sizeof(facts->debug), "%s%s", name,
		 file && is_shared_file(root, file) ? " shared" : "");
}

/* "NAME NCCL_A=1 NCCL_B=2" (spank/step/profile-env.c) */
static void look_at_profile(struct nt_facts *facts)
{
	const char *text = getenv(NT_ENV_LAUNCH);
	const char *space = text ? strchr(text, ' ') : NULL;

	if (space && strlen(space + 1) < sizeof(facts->profile))
		(void)nt_printable_copy(facts->profile, sizeof(facts->profile), space + 1,
					strlen(space + 1));
	nt_printable_json(facts->profile);
}

/* What the site has set for all: "NCCL_IB_DISABLE=1" in a line */
static void look_at_site(struct nt_facts *facts, const char *root)
{
	char path[PATH_BYTES], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/etc/nccl.conf", root);
	f = fopen(path, "re");
	for (int i = 0; f && i < CONF_LINES_MAX && fgets(line, sizeof(line), f); i++) {
		line[strcspn(line, " \t\n#")] = '\0';
		if (strncmp(line, "NCCL_", 5) == 0 &&
		    strlen(facts->site) + strlen(line) + 2 < sizeof(facts->site))
			(void)nt_append(facts->site, sizeof(facts->site), "%s%s",
					facts->site[0] ? " " : "", line);
	}
	if (f)
		fclose(f);
	nt_printable_json(facts->site);
}

/* GeForce: the driver gives these no path to each other over PCIe, and none to ports. */
static bool has_geforce(const char *root)
{
	char path[PATH_BYTES], line[128];
	const struct dirent *entry;
	bool found = false;
	DIR *gpus;

	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus", root);
	gpus = opendir(path);
	for (unsigned i = 0; gpus && !found && i < GPUS_MAX && (entry = readdir(gpus)); i++) {
		snprintf(path, sizeof(path), "/proc/driver/nvidia/gpus/%.32s/information",
			 entry->d_name);
		found = nt_facts_line(root, path, line, sizeof(line)) && strstr(line, "GeForce");
	}
	if (gpus)
		closedir(gpus);
	return found;
}

void nt_facts_look(struct nt_facts *facts, const char *root, unsigned nodes)
{
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING"), *node = getenv(NT_ENV_NODE);

	nt_fields_clear(&nt_facts_fields, facts);
	look_at_threads(facts);
	look_at_quota(facts, root);
	facts->online = get_nprocs();
	facts->job_cpus = nt_facts_fewest(getenv("SLURM_JOB_CPUS_PER_NODE"));
	look_at_shm(facts, root);
	facts->memlock_kib = memlock_of(root);
	facts->nofile = limit_of(RLIMIT_NOFILE, 1);
	facts->stack_kib = limit_of(RLIMIT_STACK, 1024);
	facts->threads = limit_of(RLIMIT_NPROC, 1);
	look_at_gpus(facts, root);
	look_at_distance(facts, root);
	facts->geforce = has_geforce(root);
	look_at_visible(facts);
	look_at_preload(facts);
	facts->blocking = blocking && strtol(blocking, NULL, 0) != 0;
	look_at_debug(facts, root);
	look_at_profile(facts);
	look_at_site(facts, root);
	if (node && strlen(node) < sizeof(facts->seen_by_root))
		(void)nt_printable_copy(facts->seen_by_root, sizeof(facts->seen_by_root), node,
					strlen(node));
	nt_printable_json(facts->seen_by_root);
	nt_facts_look_at_net(facts, root, nodes);
}
