/* SPDX-License-Identifier: MIT
 *
 * The files of src/report/page, embedded in the program by page_files.S. Each ends in a zero byte.
 */
#ifndef ROOFTILE_PAGE_FILES_H
#define ROOFTILE_PAGE_FILES_H

extern const char page_css[], page_picture_css[], page_js[];

#endif
