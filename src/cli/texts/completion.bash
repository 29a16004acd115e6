# bash completion of rooftile, written by 'rooftile completion bash'
_rooftile() {
    local line=${COMP_LINE:0:COMP_POINT} words=() cur kind=''
    # bash cuts words at ':' and '=' too, so they are cut again here
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    cur=${words[-1]}
    mapfile -t COMPREPLY < <(rooftile completion words -- "${words[@]:1}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[-1]} == :* ]] && kind=${COMPREPLY[-1]} && unset 'COMPREPLY[-1]'
    COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
    [[ $cur == *[:=]* ]] && COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*[:=]}"}"}")
    [[ $cur == --*=* ]] && cur=${cur#*=}
    [[ -n $kind ]] && compopt -o filenames
    [[ $kind == :file ]] && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur")
    [[ $kind == :json ]] && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X '!*.json' -- "$cur")
    [[ $kind == :folder || $kind == :json ]] && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$cur")
    return 0
}
complete -F _rooftile rooftile
