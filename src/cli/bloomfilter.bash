# bash completion for bloomfilter(1)

_bloomfilter() {
	local current=$2 previous=$3
	local commands='build contains copy explain export help info pull status verify'
	local types='integer text bytea uuid numeric float real date timestamp timestamptz inet macaddr'
	local command=${COMP_WORDS[1]-} help=''

	COMPREPLY=()
	if [[ $COMP_CWORD -eq 2 && $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
		return
	fi
	if [[ $COMP_CWORD -eq 1 ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$current")
		return
	fi
	[[ $current != -* && $previous != -* || " $commands " != *" $command "* ]] || help=$("$1" "$command" --help 2>/dev/null)

	# what its line has behind the option; other words are not for sed
	[[ $previous =~ ^--?[a-z0-9-]+$ ]] || previous=-
	case $(sed -nE "s/^ +(-., )? *$previous(, --[a-z-]+)? ([A-Z]+)( .*|$)/\3/p" <<<"$help" 2>/dev/null) in
		TYPE) mapfile -t COMPREPLY < <(compgen -W "$types" -- "$current") ;;
		FILE | FOLDER | KEY | KEYS | KEYFILE) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
		# numbers, and texts that only the user knows
		?*) ;;
		*)
			if [[ $current == -* ]]; then
				mapfile -t COMPREPLY < <(compgen -W "$(sed -nE 's/^ +(-., )? *(--[a-z-]+).*/\2/p' <<<"$help")" -- "$current")
			elif [[ $command != pull && $command != export ]]; then
				mapfile -t COMPREPLY < <(compgen -f -- "$current")
			fi
			;;
	esac
}

complete -o filenames -F _bloomfilter bloomfilter
