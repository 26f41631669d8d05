/* What json_loadf compares its argument with in place of stdin (see CMakeLists.txt); nobody calls json_loadf.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
__attribute__((visibility("hidden"))) void *attn_rt_no_stdin;
