//! docs/scenario.md lists every key and every name exactly as the code knows them. `PRISMUX_BLESS=1 cargo test`
//! writes its tables anew.
use prismux_scenario::keys::{self, Key};
use prismux_scenario::registry::{self, Name};
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn key_table(keys: &[Key]) -> String {
    let mut out = String::from("| key | takes | left out | meaning |\n|---|---|---|---|\n");
    for key in keys {
        writeln!(out, "| `{}` | {} | {} | {} |", key.name, key.takes, key.default, key.meaning).unwrap();
    }
    out
}

fn name_table<T>(names: &[Name<T>]) -> String {
    let mut out = String::from("| name | meaning |\n|---|---|\n");
    for name in names {
        writeln!(out, "| `{}` | {} |", name.name, name.summary).unwrap();
    }
    out
}

fn tables() -> Vec<(&'static str, String)> {
    vec![
        ("keys file", key_table(keys::FILE)),
        ("names kind", name_table(registry::NODE_KINDS)),
        ("keys member", key_table(keys::MEMBER)),
        ("keys prism-proxy", key_table(keys::PRISM_PROXY)),
        ("names proxy-profile", name_table(registry::PROXY_PROFILES)),
        ("names scheduler", name_table(registry::SCHEDULERS)),
        ("names rpc", name_table(registry::REVERSE_PATH)),
        ("names weight_unit", name_table(registry::WEIGHT_UNITS)),
        ("names link_state", name_table(registry::LINK_STATES)),
        ("names tunnel", name_table(registry::TUNNELS)),
        ("keys link", key_table(keys::LINK)),
        ("keys queue", key_table(keys::QUEUE)),
        ("names queue", name_table(registry::QUEUES)),
        ("keys loss", key_table(keys::GILBERT_ELLIOTT)),
        ("names outage", name_table(registry::OUTAGES)),
        ("keys flow", key_table(keys::FLOW)),
        ("names transport", name_table(registry::TRANSPORTS)),
        ("keys pipe", key_table(keys::PIPE)),
        ("names scheduling", name_table(registry::SCHEDULING)),
        ("names pattern", name_table(registry::PATTERNS)),
        ("names profile", name_table(registry::PROFILES)),
        ("names congestion", name_table(registry::CONGESTION)),
        ("names hystart", name_table(registry::HYSTART)),
        ("names ecn_echo", name_table(registry::ECN_ECHO)),
        ("keys tcp", key_table(keys::TCP)),
        ("keys door", key_table(keys::DOOR)),
        ("keys mptcp", key_table(keys::MPTCP)),
        ("names mptcp-scheduler", name_table(registry::MPTCP_SCHEDULERS)),
        ("names coupling", name_table(registry::MPTCP_COUPLINGS)),
        ("keys ptcp", key_table(keys::PTCP)),
        ("names reassignment", name_table(registry::REASSIGNMENT)),
        ("names resume_order", name_table(registry::RESUME_ORDER)),
        ("keys rcp", key_table(keys::RCP)),
        ("names opened_by", name_table(registry::RCP_OPENERS)),
        ("keys striping", key_table(keys::STRIPING)),
        ("names over", name_table(registry::STRIPED_OVER)),
        ("keys program", key_table(keys::PROGRAM)),
        ("keys event", key_table(keys::EVENT)),
        ("keys measure", key_table(keys::MEASURE)),
        ("keys radio", key_table(keys::RADIO)),
        ("keys channel", key_table(keys::CHANNEL)),
        ("keys aggregation", key_table(keys::AGGREGATION)),
        ("keys polling", key_table(keys::POLLING)),
        ("keys slots", key_table(keys::SLOTS)),
        ("keys cells", key_table(keys::CELLS)),
        ("keys energy", key_table(keys::ENERGY)),
        ("names rate_control", name_table(registry::RATE_CONTROL)),
        ("names medium_access", name_table(registry::MEDIUM_ACCESS)),
        ("names address_resolution", name_table(registry::ADDRESS_RESOLUTION)),
        ("names interface_queue", name_table(registry::INTERFACE_QUEUES)),
        ("names propagation", name_table(registry::PROPAGATION)),
        ("names fading", name_table(registry::FADING)),
        ("names reception", name_table(registry::RECEPTION)),
        ("keys mobility", key_table(keys::MOBILITY)),
        ("names model", name_table(registry::MOBILITY)),
        ("names waypoint-start", name_table(registry::WAYPOINT_STARTS)),
        ("keys routing", key_table(keys::ROUTING)),
        ("names routing", name_table(registry::ROUTING)),
        ("keys cell", key_table(keys::CELL)),
        ("names cell-access", name_table(registry::CELL_ACCESS)),
        ("names reuse", name_table(registry::REUSE)),
        ("keys dual_mode", key_table(keys::DUAL_MODE)),
        ("keys cell-energy", key_table(keys::CELL_ENERGY)),
    ]
}

#[test]
fn the_reference_page_lists_what_the_code_accepts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenario.md");
    let mut page = fs::read_to_string(&path).unwrap();
    for (name, table) in tables() {
        let (begin, end) = (format!("<!-- {name} -->\n"), "<!-- end -->");
        let start =
            page.find(&begin).unwrap_or_else(|| panic!("docs/scenario.md has no {begin}")) + begin.len();
        let stop = start + page[start..].find(end).unwrap();
        if env::var_os("PRISMUX_BLESS").is_some() {
            page.replace_range(start..stop, &table);
        } else {
            assert_eq!(&page[start..stop], table, "table \"{name}\" of docs/scenario.md is out of date");
        }
    }
    if env::var_os("PRISMUX_BLESS").is_some() {
        fs::write(&path, page).unwrap();
    }
}

#[test]
fn registry_names_are_the_protocols_own() {
    for name in registry::SCHEDULERS {
        assert_eq!(name.name, name.value.name());
    }
    assert_eq!(registry::SCHEDULERS.len(), prismux_prism::SchedulerKind::ALL.len());
    for name in registry::REVERSE_PATH {
        assert_eq!(name.name, name.value.name());
    }
    for name in registry::PROFILES {
        assert_eq!(name.name, name.value.name());
    }
    assert_eq!(registry::PROFILES.len(), prismux_tcp::TcpProfile::ALL.len());
}

#[test]
fn the_example_of_the_reference_page_is_a_scenario() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenario.md")).unwrap();
    let mut examples = 0;
    for block in page.split("```toml\n").skip(1) {
        let text = block.split("```").next().unwrap();
        prismux_scenario::ScenarioFile::from_text("docs/scenario.md", text).scenario(None, &[]).unwrap();
        examples += 1;
    }
    assert!(examples >= 1);
}
