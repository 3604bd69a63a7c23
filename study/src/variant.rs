//! Ways of using the same links, to be compared: the variants of a file, and those that every community has.
//!
//! | name | meaning |
//! |---|---|
//! | `single` | each member's link alone, past the proxy; the best one counts |
//! | `striping` | weighted round robin over all links by their true rates, ACKs untouched |
//! | `mptcp` | Multipath TCP over the same links, the kernel's in the lab; in the simulator when named |
//! | `prism` | the proxy as the file has it, with an ordinary TCP sender |
//! | `tcp-prism` | the same with loss reports, and a sender that uses them |
//!
//! `-cubic`, `-newreno` and `-bbr` after a name choose the senders' congestion control.

use prismux_plan::{Flow, NodeId, Plan, Transport};
use prismux_scenario::diagnostic::{ScenarioError, list_of, remedy_for};
use prismux_scenario::registry::Backend;
use prismux_scenario::{Scenario, ScenarioFile};

/// Names of the built-in variants.
pub const BUILT_IN: [&str; 5] = ["single", "striping", "mptcp", "prism", "tcp-prism"];

/// One variant: one scenario, or several of which the best counts.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Name.
    pub name: String,
    /// The scenarios, each with what tells it apart (empty for a single one).
    pub candidates: Vec<Candidate>,
}

/// One scenario of a variant.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// What tells it apart: the member's name.
    pub label: String,
    /// What to run.
    pub scenario: Scenario,
}

/// The variants called `names`, or the standard ones of the file when `names` is empty.
///
/// # Errors
/// A name that is no variant, with those there are, and whatever is wrong with the file.
pub fn variants(
    file: &ScenarioFile,
    names: &[String],
    set: &[&str],
    backend: Backend,
) -> Result<Vec<Variant>, ScenarioError> {
    let base = file.scenario(None, set)?;
    let declared: Vec<&str> = base.variants.iter().map(|variant| variant.name.as_str()).collect();
    let chosen: Vec<&str> = match (names.is_empty(), declared.is_empty()) {
        (false, _) => names.iter().map(String::as_str).collect(),
        (true, false) => declared.clone(),
        (true, true) => {
            let possible = |name: &&str| match *name {
                "mptcp" => backend == Backend::Lab,
                _ => true,
            };
            BUILT_IN.into_iter().filter(possible).collect()
        }
    };
    chosen.into_iter().map(|name| variant(file, &base, &declared, name, set)).collect()
}

fn variant(
    file: &ScenarioFile,
    base: &Scenario,
    declared: &[&str],
    name: &str,
    set: &[&str],
) -> Result<Variant, ScenarioError> {
    if declared.contains(&name) {
        let candidate = Candidate { label: String::new(), scenario: file.scenario(Some(name), set)? };
        return Ok(Variant { name: name.to_string(), candidates: vec![candidate] });
    }
    let Some(list) = built_in(&base.plan, name) else {
        return Err(unknown(file, &base.plan, declared, name));
    };
    let candidates = list.into_iter().map(|(label, overrides)| {
        Ok(Candidate { label, scenario: file.scenario_with(None, &overrides, set)? })
    });
    Ok(Variant { name: name.to_string(), candidates: candidates.collect::<Result<_, ScenarioError>>()? })
}

/// Says which variants there are in place of `name`.
fn unknown(file: &ScenarioFile, base: &Plan, declared: &[&str], name: &str) -> ScenarioError {
    const NEEDED: &str = "a TCP flow through a prism-proxy";
    let built_in: &[&str] = if built_in(base, BUILT_IN[0]).is_some() { &BUILT_IN } else { &[] };
    let known: Vec<&str> =
        declared.iter().filter(|name| !built_in.contains(name)).chain(built_in).copied().collect();
    let found = match built_in.is_empty() && BUILT_IN.contains(&in_parts(name).0) {
        true => format!("\"{name}\" needs {NEEDED}"),
        false => format!("there is no variant \"{name}\""),
    };
    let expected = match (known.is_empty(), built_in.is_empty()) {
        (true, _) => format!("a file with [variants], or with {NEEDED} (then: {})", list_of(&BUILT_IN)),
        (false, true) => list_of(&known),
        (false, false) => {
            let endings: Vec<String> = CONTROLS.iter().map(|control| format!("-{control}")).collect();
            let endings: Vec<&str> = endings.iter().map(String::as_str).collect();
            format!("{} (from \"{}\" on also with {})", list_of(&known), BUILT_IN[0], list_of(&endings))
        }
    };
    ScenarioError::whole_file(file.name(), found, &expected, remedy_for(name, known.iter().copied()))
}

/// Congestion controls that may stand behind a built-in variant.
const CONTROLS: [&str; 3] = ["cubic", "newreno", "bbr"];

/// A name without its congestion control, and that.
fn in_parts(name: &str) -> (&str, Option<&'static str>) {
    let split = |control: &'static str| Some((name.strip_suffix(control)?.strip_suffix('-')?, Some(control)));
    CONTROLS.into_iter().find_map(split).unwrap_or((name, None))
}

/// Labels and overrides of a built-in variant; `None` if there is none of this name or nothing to apply it to.
fn built_in(base: &Plan, name: &str) -> Option<Vec<(String, Vec<String>)>> {
    let (kind, control) = in_parts(name);
    let split: Vec<(&Flow, NodeId)> = base
        .flows
        .iter()
        .filter_map(|flow| {
            // A file may have the flow go another way; what counts is where it could go.
            let is_transfer = flow.transport != Transport::Udp;
            is_transfer.then(|| base.proxy_between(flow.from, flow.to))?.map(|proxy| (flow, proxy))
        })
        .collect();
    if split.is_empty() {
        return None;
    }
    let on_flows = |key: &str, value: &str| -> Vec<String> {
        split.iter().map(|(flow, _)| format!("flows.{}.{key}={value}", flow.group)).collect()
    };
    let mut proxies: Vec<NodeId> = split.iter().map(|(_, proxy)| *proxy).collect();
    proxies.dedup();
    let on_proxies = |key: &str, value: &str| -> Vec<String> {
        proxies.iter().map(|&proxy| format!("nodes.{}.{key}={value}", base[proxy].name)).collect()
    };
    let mut list = match kind {
        "single" => {
            let alone = |member: NodeId| {
                let name = base[member].name.clone();
                let overrides = [on_flows("transport", "tcp"), on_flows("via", &name)].concat();
                (name, overrides)
            };
            base.members_of(proxies[0]).into_iter().map(alone).collect()
        }
        "striping" => {
            let proxy = [
                on_proxies("profile", "paper"),
                on_proxies("rpc", "off"),
                on_proxies("scheduler", "smooth-weighted-round-robin"),
            ];
            vec![(String::new(), [proxy.concat(), on_flows("transport", "tcp")].concat())]
        }
        "mptcp" => vec![(String::new(), on_flows("transport", "mptcp"))],
        "prism" => vec![(String::new(), on_flows("transport", "tcp"))],
        "tcp-prism" => {
            let reports = on_proxies("loss_reports", "true");
            vec![(String::new(), [reports, on_flows("transport", "tcp-prism")].concat())]
        }
        _ => return None,
    };
    if let Some(control) = control {
        for (_, overrides) in &mut list {
            overrides.extend(on_flows("congestion", control));
        }
    }
    Some(list)
}
