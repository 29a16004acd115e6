/* SPDX-License-Identifier: MIT
 *
 * The embedded files of a page, declared in page_files.h.
 */
        .section .rodata

        .macro  file name, path
        .globl  \name
        .hidden \name
        .type   \name, %object
\name:
        .incbin "\path"
        .byte   0
        .size   \name, . - \name
        .endm

        file    page_css, src/report/page/page.css
        file    page_picture_css, src/report/page/picture.css
        file    page_js, src/report/page/page.js

        .section .note.GNU-stack, "", %progbits
