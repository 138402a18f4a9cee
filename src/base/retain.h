// SPDX-License-Identifier: MIT
//
// retain.h: keeps freed memory in the process. A process that builds and frees the same robots many
// times gets their memory from the system once, instead of page by page for each of them.
#pragma once

// From now on, for the whole process; only its owner may decide that, such as a worker of a sweep.
// Nothing where the C library cannot be told so.
void snw_retain_memory(void);
