# bash completion for bloomfilter(1)

_bloomfilter() {
	local current=$2 previous=$3
	local commands='build contains explain export info pull status verify'
	local types='integer text bytea uuid numeric float real date timestamp timestamptz inet macaddr'
	local command=${COMP_WORDS[1]-} options=''

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
		-k | --keys | --out | --config | --to | --sign | --key | --header-file | --working)
			mapfile -t COMPREPLY < <(compgen -f -- "$current")
			return
			;;
		# numbers, and texts that only the user knows
		-n | --capacity | -p | --rate | -s | --seed | --parts | --sample | --sample-seed | \
			--dsn | --url | --index | --name | --identity | --poll | --spread | --heartbeat | --expires | --keep | --after | \
			--limit-rate | --list | --query | --delta-query | --listen | --every | --max-age | --max-built-age)
			# of pull, --parts has no argument
			[[ $command == pull && $previous == --parts ]] || return
			;;
	esac

	case $command in
		export) options='--dsn --index --list --to --name --identity --new-source --follow --every --poll --spread --heartbeat
			--expires --keep --sign --after --quiet --help' ;;
		build) options='--capacity --rate --seed --type --parts --null --allow-empty --no-progress --help' ;;
		contains) options='--type --invert --count --quiet --null --skip-bad --help' ;;
		explain) options='--type --help' ;;
		info) options='--json --help' ;;
		verify) options='--keys --type --null --sample --sample-seed --allow-empty --no-progress
			--help' ;;
		status) options='--max-age --max-built-age --json --prometheus --quiet --help' ;;
		pull)
			options='--url --config --dsn --list --query --out --follow --every --parts --delta-query --listen
				--allow-older --new-identity --replace --quiet --no-progress --help'
			;;
	esac
	if [[ $command == pull && " ${COMP_WORDS[*]} " == *' --url '* ]]; then
		options='--url --out --follow --every --key --name --allow-older --allow-http --header-file --limit-rate
			--working --no-agent --quiet --help'
	elif [[ $command == pull && " ${COMP_WORDS[*]} " == *' --config '* ]]; then
		options='--config --once --quiet --help'
	fi
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
	elif [[ $command != pull && $command != export ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	fi
}

complete -o filenames -F _bloomfilter bloomfilter
