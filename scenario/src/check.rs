//! What single keys cannot show: links that join up, flows that arrive, members that come before they go.

use crate::diagnostic::{Place, list_of};
use crate::document::{Table, Value};
use crate::model::{Action, Flow, Role, Scenario};
use crate::read::reader::Problems;
use crate::registry::{NodeKind, Transport};

/// Adds what is wrong with the whole to `problems`.
pub(crate) fn check(scenario: &Scenario, file: &Table, problems: &Problems<'_>) {
    flow_names(scenario, file, problems);
    for flow in &scenario.flows {
        reachable(scenario, flow, file, problems);
        within_run(scenario, flow, file, problems);
        transport(scenario, flow, file, problems);
        via(scenario, flow, file, problems);
        links(scenario, flow, file, problems);
        pipes(scenario, flow, file, problems);
    }
    proxies(scenario, file, problems);
    memberships(scenario, file, problems);
}

/// Where `section.name` stands in the file; the start of the file when it is not there.
fn place_of(file: &Table, section: &str, name: &str, key: Option<&str>) -> Place {
    let Some(Value::Table(section)) = file.get(section).map(|entry| &entry.item.value) else {
        return Place::default();
    };
    // A numbered copy stands where its original does.
    let original = || name.rsplit_once('-').and_then(|(stem, _)| section.get(stem));
    let Some(entry) = section.get(name).or_else(original) else { return Place::default() };
    match (&entry.item.value, key) {
        (Value::Table(table), Some(key)) => {
            table.get(key).map_or_else(|| entry.key_place.clone(), |inner| inner.item.place.clone())
        }
        _ => entry.key_place.clone(),
    }
}

/// Copies made by `count` must not meet a flow of the same name.
fn flow_names(scenario: &Scenario, file: &Table, problems: &Problems<'_>) {
    for (index, flow) in scenario.flows.iter().enumerate() {
        if scenario.flows[..index].iter().any(|other| other.name == flow.name) {
            let place = place_of(file, "flows", &flow.name, None);
            let found = format!("two flows are called \"{}\"", flow.name);
            let remedy = "flows with a count are called NAME-1, NAME-2, ...; rename one".to_string();
            problems.add(
                &place,
                &format!("flows.{}", flow.name),
                found,
                "every flow with a name of its own",
                Some(remedy),
            );
        }
    }
}

/// Nodes reachable from `start` over links, whether or not they work at the start.
pub(crate) fn reachable_from(scenario: &Scenario, start: usize) -> Vec<bool> {
    let mut seen = vec![false; scenario.nodes.len()];
    let mut waiting = vec![start];
    seen[start] = true;
    while let Some(node) = waiting.pop() {
        for link in &scenario.links {
            let other = match link.ends {
                [a, b] if a == node => b,
                [a, b] if b == node => a,
                _ => continue,
            };
            if !seen[other] {
                seen[other] = true;
                waiting.push(other);
            }
        }
    }
    seen
}

fn reachable(scenario: &Scenario, flow: &Flow, file: &Table, problems: &Problems<'_>) {
    let seen = reachable_from(scenario, flow.from);
    if seen[flow.to] {
        return;
    }
    let (from, to) = (&scenario.nodes[flow.from].name, &scenario.nodes[flow.to].name);
    let near: Vec<&str> = scenario
        .nodes
        .iter()
        .zip(&seen)
        .filter(|(_, seen)| **seen)
        .map(|(node, _)| node.name.as_str())
        .collect();
    let place = place_of(file, "flows", &flow.name, Some("to"));
    let expected = format!("a node that links lead to from \"{from}\": {}", list_of(&near));
    let remedy = format!("add a link towards \"{to}\"");
    problems.add(
        &place,
        &format!("flows.{}.to", flow.name),
        format!("no links lead from \"{from}\" to \"{to}\""),
        expected,
        Some(remedy),
    );
}

fn within_run(scenario: &Scenario, flow: &Flow, file: &Table, problems: &Problems<'_>) {
    if flow.start >= scenario.duration {
        let place = place_of(file, "flows", &flow.name, Some("start"));
        let found = format!("the flow starts at {} but the run ends at {}", flow.start, scenario.duration);
        let path = format!("flows.{}.start", flow.name);
        problems.add(&place, &path, found, "a start within the run", None);
    }
}

/// A TCP whose sender listens to a proxy needs one on its way.
fn transport(scenario: &Scenario, flow: &Flow, file: &Table, problems: &Problems<'_>) {
    let proxies = scenario.nodes.iter().filter(|node| node.kind() == NodeKind::PrismProxy).count();
    if flow.transport == Transport::TcpPrism && proxies == 0 {
        let place = place_of(file, "flows", &flow.name, Some("transport"));
        let path = format!("flows.{}.transport", flow.name);
        let remedy = "use transport = \"tcp\", or add a node of kind \"prism-proxy\"".to_string();
        problems.add(
            &place,
            &path,
            "found \"tcp-prism\" without a proxy",
            "a prism-proxy on the flow's way",
            Some(remedy),
        );
    }
}

/// A pipe leads from a host to the flow's receiver, over a link that one of them has.
fn pipes(scenario: &Scenario, flow: &Flow, file: &Table, problems: &Problems<'_>) {
    let place = place_of(file, "flows", &flow.name, Some("pipes"));
    for pipe in &flow.r2cp.pipes {
        let path = format!("flows.{}.pipes.{}", flow.name, pipe.name);
        let (server, to) = (&scenario.nodes[pipe.server].name, &scenario.nodes[flow.to].name);
        if scenario.nodes[pipe.server].kind() != NodeKind::Host || pipe.server == flow.to {
            let found = format!("\"{server}\" cannot serve \"{to}\"");
            problems.add(&place, &path, found, "another host as server", None);
        } else if !reachable_from(scenario, pipe.server)[flow.to] {
            let found = format!("no links lead from \"{server}\" to \"{to}\"");
            problems.add(&place, &path, found, "a server that links lead from", None);
        }
        let Some(link) = pipe.link.map(|link| &scenario.links[link]) else { continue };
        if !link.ends.contains(&pipe.server) && !link.ends.contains(&flow.to) {
            let found = format!("link \"{}\" ends neither at \"{server}\" nor at \"{to}\"", link.name);
            problems.add(&place, &path, found, "a link of the server or the receiver", None);
        }
    }
}

/// Every proxy needs members to send through, and links that lead to them.
fn proxies(scenario: &Scenario, file: &Table, problems: &Problems<'_>) {
    for proxy in scenario.proxies() {
        let node = &scenario.nodes[proxy];
        let path = format!("nodes.{}.members", node.name);
        let members = scenario.members_of(proxy);
        if members.is_empty() {
            let place = place_of(file, "nodes", &node.name, None);
            let remedy = format!("add a member and a link between = [\"{}\", \"m1\"]", node.name);
            let found = format!("no link joins \"{}\" to a member", node.name);
            problems.add(
                &place,
                &path,
                found,
                "at least one link to a node of kind \"member\"",
                Some(remedy),
            );
        }
        let seen = reachable_from(scenario, proxy);
        let place = place_of(file, "nodes", &node.name, Some("members"));
        for member in members {
            let name = &scenario.nodes[member].name;
            if scenario.nodes[member].kind() != NodeKind::Member {
                let found = format!("\"{name}\" is not a member");
                problems.add(&place, &path, found, "nodes of kind \"member\"", None);
            } else if !seen[member] {
                let found = format!("no links lead from \"{}\" to \"{name}\"", node.name);
                problems.add(&place, &path, found, "members that links lead to", None);
            }
        }
    }
}

/// `via` names a member, and only where there is a proxy to go past.
fn via(scenario: &Scenario, flow: &Flow, file: &Table, problems: &Problems<'_>) {
    let Some(via) = flow.via else { return };
    let place = place_of(file, "flows", &flow.name, Some("via"));
    let path = format!("flows.{}.via", flow.name);
    let name = &scenario.nodes[via].name;
    let members: Vec<&str> = scenario
        .nodes
        .iter()
        .filter(|node| node.kind() == NodeKind::Member)
        .map(|node| node.name.as_str())
        .collect();
    if scenario.nodes[via].kind() != NodeKind::Member {
        let expected = format!("a member: {}", list_of(&members));
        problems.add(&place, &path, format!("\"{name}\" is not a member"), expected, None);
    } else if flow.transport == Transport::TcpPrism {
        let remedy = "use transport = \"tcp\" with via".to_string();
        let found = "found via with transport \"tcp-prism\"";
        problems.add(&place, &path, found, "a flow that passes the proxy", Some(remedy));
    }
}

/// Access links end where the flow does; a flow of one pipe has one.
fn links(scenario: &Scenario, flow: &Flow, file: &Table, problems: &Problems<'_>) {
    let place = place_of(file, "flows", &flow.name, Some("links"));
    let path = format!("flows.{}.links", flow.name);
    for &link in &flow.links {
        let link = &scenario.links[link];
        if !link.ends.contains(&flow.from) && !link.ends.contains(&flow.to) {
            let (from, to) = (&scenario.nodes[flow.from].name, &scenario.nodes[flow.to].name);
            let found = format!("link \"{}\" ends neither at \"{from}\" nor at \"{to}\"", link.name);
            problems.add(&place, &path, found, "links of the flow's own ends", None);
        }
    }
    let striped = flow.transport.is_striped();
    if !striped && flow.links.len() > 1 {
        let remedy = "name one link, or use transport = \"ptcp\"".to_string();
        let found = format!("found {} links for a flow of one pipe", flow.links.len());
        problems.add(&place, &path, found, "one link", Some(remedy));
    }
    let most = usize::from(prismux_ptcp::MAX_PIPES);
    if flow.links.len() > most {
        let found = format!("found {} links", flow.links.len());
        problems.add(&place, &path, found, format!("at most {most} links"), None);
    }
}

/// Members join when outside and leave when inside.
fn memberships(scenario: &Scenario, file: &Table, problems: &Problems<'_>) {
    for (index, node) in scenario.nodes.iter().enumerate() {
        let Role::Member(member) = &node.role else { continue };
        let mut inside = member.present;
        for event in &scenario.events {
            let joins = match event.action {
                Action::Join(who) if who == index => true,
                Action::Leave(who) if who == index => false,
                _ => continue,
            };
            if joins == inside {
                let (found, remedy) = match joins {
                    true => (
                        format!("\"{}\" joins at {} but is in the community already", node.name, event.at),
                        "write present = false on the member, or let it leave first",
                    ),
                    false => (
                        format!("\"{}\" leaves at {} but is not in the community", node.name, event.at),
                        "let it join first",
                    ),
                };
                let place = place_of(file, "nodes", &node.name, Some("present"));
                problems.add(
                    &place,
                    &format!("nodes.{}", node.name),
                    found,
                    "joining and leaving in turn",
                    Some(remedy.to_string()),
                );
            }
            inside = joins;
        }
    }
}
