"""OpenWrt's package: what its scripts make of /etc/config/prismux, with stand-ins for the system's own functions."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

PACKAGE = ROOT / "packaging/openwrt"

# Stand-ins for /lib/functions.sh of OpenWrt: the same names and arguments, for files in uci's own format, which is
# read as commands `config`, `option` and `list`, as there.
FUNCTIONS = r"""
sections= count=0
config() { count=$((count + 1)); section=${2:-cfg$count}; sections="$sections $1:$section"; }
option() { eval "o_${section}_$1=\$2"; }
list() {
  eval "n=\$((\${l_${section}_$1:-0} + 1))"
  eval "l_${section}_$1=$n i_${section}_${1}_$n=\$2"
}
config_load() { . "$OPENWRT_ROOT/etc/config/$1"; }
config_get() { eval "$1=\${o_$2_$3:-\${4:-}}"; }
config_get_bool() {
  config_get "$@"
  eval "case \$$1 in 1|on|true|yes|enabled) $1=1;; 0|off|false|no|disabled) $1=0;; *) $1=$4;; esac"
}
config_list_foreach() {
  eval "n=\${l_$1_$2:-0}"; k=0
  while [ $k -lt $n ]; do k=$((k + 1)); eval "$3 \"\$i_${1}_${2}_$k\""; done
}
config_foreach() { for pair in $sections; do [ "${pair%%:*}" != "$2" ] || "$1" "${pair#*:}"; done; }
logger() { :; }
"""
NETWORK = r"""
network_get_device() { case $2 in wan) eval "$1=eth1" ;; *) return 1 ;; esac; }
"""
# As `uci export` prints it.
CONFIG = r"""
config prismux 'main'
	option enabled '1'
	option name 'house'
	option private_key_file '/etc/prismux/home.key'
	list address '10.77.0.2'
	list address 'fd77::2'
	option share '0'
	option page '127.0.0.1:9587'
	option path_mtu '1492'

config gateway 'gateway'
	option endpoint '192.0.2.1:51820'
	option public_key 'hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo='

config uplink
	option network 'wan'

config uplink
	option network 'wwan_that_is_down'

config uplink
	option device 'say "hi"\'
	option tier 'backup'
	option cap_per_month '5 GB'
	option reset_day '15'
	list hours '22:00-06:00'
	list hours '12:00-13:00'
"""


@pytest.fixture
def router(tmp_path: Path) -> Path:
    """A router's files."""
    for name, text in {
        "lib/functions.sh": FUNCTIONS,
        "lib/functions/network.sh": NETWORK,
        "etc/config/prismux": CONFIG,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def shell(router: Path, *command: str | Path) -> str:
    environment = {"OPENWRT_ROOT": str(router), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    done = subprocess.run(["sh", "-u", *command], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


def generated(router: Path) -> Path:
    made = router / "var/etc/home.toml"
    shell(router, PACKAGE / "files/prismux-openwrt", "generate", made)
    assert made.stat().st_mode & 0o077 == 0
    return made


def test_the_daemons_file_says_what_etc_config_says(router: Path) -> None:
    assert tomllib.loads(generated(router).read_text()) == {
        "role": "home",
        "name": "house",
        "private_key_file": "/etc/prismux/home.key",
        "addresses": ["10.77.0.2", "fd77::2"],
        "share": False,
        "page": "127.0.0.1:9587",
        "path_mtu": 1492,
        "accounts_file": "/etc/prismux/home.accounts",
        "gateway": {"endpoint": "192.0.2.1:51820", "public_key": "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="},
        "uplinks": [
            {"device": "eth1"},
            {
                "device": 'say "hi"\\',
                "tier": "backup",
                "sharing": {"cap_per_month": "5 GB", "reset_day": 15, "hours": ["22:00-06:00", "12:00-13:00"]},
            },
        ],
    }


def test_the_example_has_every_option_once_it_is_filled_in(router: Path) -> None:
    example = (PACKAGE / "files/prismux.config").read_text()
    # What is commented out is meant to work, too.
    whole = re.sub(r"^\t?#\s?(?=\t?(config|option|list) )", "", example, flags=re.MULTILINE)
    (router / "etc/config/prismux").write_text(whole)
    made = tomllib.loads(generated(router).read_text())
    assert made["metrics"] == "127.0.0.1:9586"
    assert made["uplinks"][1]["sharing"].keys() == {"cap_per_day", "cap_per_month", "reset_day", "hours", "rate_limit"}
    examples = tomllib.loads((ROOT / "daemons/examples/home.toml").read_text())
    assert made.keys() <= examples.keys() | {"metrics"}


# What procd is told, word by word, by its own functions' names.
PROCD = r"""
. "$1"
. "$OPENWRT_ROOT/lib/functions.sh"
procd_open_instance() { :; }
procd_close_instance() { echo end; }
procd_set_param() { echo "$*"; }
procd_add_reload_trigger() { echo "reload on $*"; }
procd_add_interface_trigger() { echo "up: $*"; }
MADE=$OPENWRT_ROOT/made.toml
mkdir() { :; }
start_service
service_triggers
"""


def test_procd_runs_the_daemon_when_it_is_enabled(router: Path) -> None:
    script = (PACKAGE / "files/prismux.init").read_text()
    assert script.startswith("#!/bin/sh /etc/rc.common\n") and "USE_PROCD=1" in script
    local = router / "init"
    local.write_text(script.replace("/usr/sbin/prismux-openwrt", f"sh {PACKAGE / 'files/prismux-openwrt'}"))
    (router / "check").write_text(PROCD)
    said = shell(router, router / "check", local).splitlines()
    assert said[0] == f"command /usr/bin/prismux up --restart --config {router}/made.toml --log-level info"
    assert {"respawn", "end", "reload on prismux"} <= set(said)
    assert "up: interface.*.up wan /etc/init.d/prismux reload" in said
    config = router / "etc/config/prismux"
    config.write_text(config.read_text().replace("enabled '1'", "enabled '0'"))
    assert "end" not in shell(router, router / "check", local)


def test_the_recipe_is_of_this_version_and_installs_these_files() -> None:
    recipe = (PACKAGE / "Makefile").read_text()
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), flags=re.MULTILINE)
    assert version and f"PKG_VERSION:={version[1]}\n" in recipe
    installed = set(re.findall(r"\./files/(\S+)", recipe))
    assert installed == {file.name for file in (PACKAGE / "files").iterdir()}
