/* SPDX-License-Identifier: MIT
 *
 * The texts of the command line other than messages, as texts.h declares them.
 */
        .macro  file name, path
        .globl  \name
        .hidden \name
        .type   \name, %object
\name:
        .incbin "src/cli/texts/\path"
        .byte   0
        .size   \name, . - \name
        .endm

        .data
        file    cli_commands, commands.txt
        file    cli_options, options.txt

        .section .rodata
        file    cli_hints, hints.txt
        file    cli_man_facts, man.mdoc
        file    cli_bash, completion.bash
        file    cli_zsh, completion.zsh
        file    cli_fish, completion.fish

        .section .note.GNU-stack, "", %progbits
