# bash completion for bloomfilter(1)

_bloomfilter() {
	local current=$2 previous=$3
	local commands='build contains copy explain export info pull status verify'
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

	case $command in
		export) options='--dsn --index --list --to --name --identity --new-source --follow --every --poll --spread --heartbeat
			--expires --keep-days --sign --after --quiet --help' ;;
		build) options='--capacity --rate --seed --type --parts --members --others --null --allow-empty --help' ;;
		contains) options='--type --invert --count --quiet --null --help' ;;
		copy) options='--help' ;;
		explain) options='--type --help' ;;
		info) options='--json --help' ;;
		verify) options='--keys --type --null --allow-empty --help' ;;
		status) options='--max-age --max-true-age --json --prometheus --quiet --help' ;;
		pull)
			options='--url --dsn --list --index --config --out --follow --every --key --name --allow-older --allow-http
				--header-file --quiet --help'
			[[ " ${COMP_WORDS[*]} " != *' --config '* ]] || options='--config --once --quiet --help'
			;;
	esac
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
	elif [[ $command != pull && $command != export ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	fi
}

complete -o filenames -F _bloomfilter bloomfilter
