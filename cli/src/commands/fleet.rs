//! `prismux fleet`: what a registry says that gateways share, and rights of its homes.
use crate::args::{FleetArguments, FleetCommand};
use crate::failure::Failure;
use crate::output::print;
use prismux_daemons::config::{GatewayConfig, Home, RegistryConfig};
use prismux_daemons::fleet::contents::View;
use prismux_daemons::fleet::members;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

pub(crate) fn run(arguments: &FleetArguments) -> Result<(), Failure> {
    let registry = registry_of(&arguments.config)?;
    let said = match &arguments.command {
        FleetCommand::Status { json } => {
            let view = members::view(&registry).map_err(Failure::Failed)?;
            return Ok(print(if *json { as_json(&view) } else { shown(&view) })?);
        }
        FleetCommand::Revoke(home) => members::revoke(&registry, &home.name, false)
            .map(|()| format!("{} is out, at all gateways", home.name)),
        FleetCommand::Restore(home) => {
            members::revoke(&registry, &home.name, true).map(|()| format!("{} may come back", home.name))
        }
        FleetCommand::Remove(home) => members::remove(&registry, &home.name)
            .map(|()| format!("{} is listed no more; its address is free", home.name)),
    };
    Ok(print(said.map_err(Failure::Failed)?)?)
}

fn registry_of(file: &Path) -> Result<RegistryConfig, Failure> {
    let config = GatewayConfig::load(file).map_err(|error| Failure::Usage(error.to_string()))?;
    config.registry.ok_or_else(|| {
        Failure::Usage(format!("{} has no [registry]: this gateway is in no fleet", file.display()))
    })
}

fn as_json(view: &View) -> String {
    let home = |home: &Home| {
        let serving = view.serving.get(&home.name);
        json!({ "name": home.name, "addresses": home.addresses, "serving": serving })
    };
    let homes: Vec<_> = view.homes.iter().map(home).collect();
    json!({ "gateways": view.gateways, "homes": homes, "revoked": view.revoked,
        "malformed_entries": view.malformed.len() })
    .to_string()
}

fn shown(view: &View) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    for (name, gateway) in &view.gateways {
        let address = gateway.address.map(|address| format!(" at {address}")).unwrap_or_default();
        let served = view.serving.values().filter(|at| at.gateway == *name).count();
        let _ = writeln!(out, "gateway {name}{address}: serves {served}");
    }
    if view.gateways.is_empty() {
        out.push_str("no gateway lives\n");
    }
    for home in &view.homes {
        let addresses: Vec<String> = home.addresses.iter().map(ToString::to_string).collect();
        let at = view.serving.get(&home.name).map_or("nowhere now", |at| at.gateway.as_str());
        let _ = writeln!(out, "home {} ({}): {at}", home.name, addresses.join(", "));
    }
    for name in &view.revoked {
        let _ = writeln!(out, "home {name}: its rights have been revoked");
    }
    for (key, reason) in &view.malformed {
        let _ = writeln!(out, "makes no sense: {}: {}", key.escape_debug(), reason.escape_debug());
    }
    out.trim_end().to_owned()
}
