#compdef rooftile
# zsh completion of rooftile, written by 'rooftile completion zsh'
_rooftile() {
    local -a lines=(${(f)"$(rooftile completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    local kind=${(M)lines[-1]:#:*}
    lines=(${lines:#:*})
    local -a open=(${(M)lines:#*=}) plain=(${${lines:#*=}%%$'\t'*}) shown=(${${lines:#*=}/$'\t'/  -- })
    compadd -S '' -a open
    compadd -l -d shown -a plain
    compset -P '--*='
    case $kind in
        :file) _files ;;
        :folder) _files -/ ;;
        :json) _files -g '*.json' ;;
    esac
}
if [[ $funcstack[1] == _rooftile ]]; then _rooftile "$@"; else compdef _rooftile rooftile; fi
