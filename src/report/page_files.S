/* SPDX-License-Identifier: MIT
 *
 * What a page is made of besides its data, as page_files.h declares it.
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
