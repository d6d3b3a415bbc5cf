/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/filesink.h"

#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LIST "system.posix_acl_access"

/* user::rw-, user:UID:r--, group::---, mask::r--, other::--- */
static int let_read(int fd, uint32_t uid)
{
	const struct {
		struct posix_acl_xattr_header header;
		struct posix_acl_xattr_entry entries[5];
	} list = {
		{ htole32(POSIX_ACL_XATTR_VERSION) },
		{
			{ htole16(ACL_USER_OBJ), htole16(ACL_READ | ACL_WRITE),
			  htole32((uint32_t)ACL_UNDEFINED_ID) },
			{ htole16(ACL_USER), htole16(ACL_READ), htole32(uid) },
			{ htole16(ACL_GROUP_OBJ), 0, htole32((uint32_t)ACL_UNDEFINED_ID) },
			{ htole16(ACL_MASK), htole16(ACL_READ),
			  htole32((uint32_t)ACL_UNDEFINED_ID) },
			{ htole16(ACL_OTHER), 0, htole32((uint32_t)ACL_UNDEFINED_ID) },
		},
	};

	return fsetxattr(fd, LIST, &list, sizeof(list), 0);
}

int nt_filesink_put(const char *directory, const struct nt_spool_entry *entry, struct nt_error *err)
{
	int part_fd = nt_spool_open(directory, NT_PART_FILES, true, err);
	int rc, fd;

	if (part_fd < 0)
		return -1;
	rc = nt_spool_put(part_fd, entry, true, err);
	fd = rc >= 0 && entry->uid != NT_SPOOL_NO_UID ? nt_spool_open_file(part_fd, entry) : -1;
	if (fd >= 0) {
		(void)let_read(fd, entry->uid);
		close(fd);
	}
	close(part_fd);
	return rc;
}

bool nt_filesink_has_lists(const char *directory)
{
	return getxattr(directory, LIST, NULL, 0) >= 0 || errno == ENODATA;
}
