# fish completion of rooftile, written by 'rooftile completion fish'
function __rooftile
    set -l words (commandline -opc) (commandline -ct)
    for line in (rooftile completion words -- $words[2..-1] 2>/dev/null)
        switch $line
            case :file
                __fish_complete_path (commandline -ct)
            case :folder
                __fish_complete_directories (commandline -ct)
            case :json
                __fish_complete_suffix .json
            case '*'
                echo $line
        end
    end
end
complete -c rooftile -f -a '(__rooftile)'
