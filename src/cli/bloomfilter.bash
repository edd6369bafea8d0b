# bash completion for bloomfilter(1)

_bloomfilter() {
	local current=$2 previous=$3
	local commands='build contains copy explain export info pull status verify'
	local types='integer text bytea uuid numeric float real date timestamp timestamptz inet macaddr'
	local command=${COMP_WORDS[1]-} options='' config=''

	COMPREPLY=()
	if [[ $COMP_CWORD -eq 1 ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$current")
		return
	fi

	case $previous in
		-t | --type)
			mapfile -t COMPREPLY < <(compgen -W "$types" -- "$current")
			return
			;;
		-k | --keys | --members | --others | --out | --config | --to | --sign | --key | --header-file)
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
			return
			;;
		# numbers, and texts that only the user knows
		-n | --capacity | -p | --rate | -s | --seed | --parts | \
			--dsn | --url | --index | --name | --identity | --poll | --spread | --heartbeat | --expires | --keep-days | --after | \
			--list | --every | --max-age | --max-true-age)
			return
			;;
	esac

	if [[ $current != -* ]]; then
		[[ $command == pull || $command == export ]] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
	elif [[ " $commands " == *" $command "* ]]; then
		# with a file pull has others
		[[ " ${COMP_WORDS[*]} " != *' --config '* ]] || config=--config=
		options=$("$1" "$command" $config --help 2>/dev/null | sed -n 's/^ \+\(-., \)\? *\(--[a-z-]\+\).*/\2/p')
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
	fi
}

complete -o filenames -F _bloomfilter bloomfilter
