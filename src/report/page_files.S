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

        .globl  page_charts_end
        .hidden page_charts_end

        file    page_css, src/report/page/page.css
        file    page_picture_css, src/report/page/picture.css
        file    page_js, src/report/page/page.js

#ifdef ROOFTILE_CHARTS
        file    page_charts, charts.gz
        .equ    page_charts_end, . - 1
        file    page_charts_sha256, charts.sha256
#else
        .globl  page_charts, page_charts_sha256
        .hidden page_charts, page_charts_sha256
page_charts:
page_charts_end:
page_charts_sha256:
        .byte   0
#endif

        .section .note.GNU-stack, "", %progbits
