//! Homes in the registry: let in, turned out, listed; once for all gateways.
use super::client::Registry;
use super::contents::{Contents, View};
use crate::config::RegistryConfig;
use crate::config::registry::{is_home_name, network_contains};
use prismux_sealed::PublicKey;
use serde_json::json;
use std::collections::HashSet;
use std::net::IpAddr;

/// Others may take an address at the same moment; so often another one is tried.
const TRIES: usize = 50;

/// Lists a home with these keys under `named` addresses, or under the first that no other home has. Gives back its
/// addresses.
///
/// # Errors
/// There is such a home already, an address is taken or is none of the fleet's, or the registry cannot be written to.
pub fn add(
    config: &RegistryConfig,
    name: &str,
    named: &[IpAddr],
    keys: &[PublicKey],
) -> Result<Vec<IpAddr>, String> {
    if !is_home_name(name) {
        return Err(format!("\"{name}\" is no name of a home: letters, digits, dots, dashes, 30 at most"));
    }
    if let Some(stray) = named.iter().find(|&&address| !network_contains(&config.network, address)) {
        return Err(format!("{stray} is not in the fleet's network"));
    }
    let mut registry = Registry::new(config)?;
    for _ in 0..TRIES {
        let (_, entries) = registry.snapshot()?;
        if entries.iter().any(|(key, _)| key.strip_prefix("homes/") == Some(name)) {
            return Err(format!("\"{name}\" is invited already. Remedy: prismux fleet remove {name}"));
        }
        let taken: HashSet<IpAddr> =
            entries.iter().filter_map(|(key, _)| key.strip_prefix("addresses/")?.parse().ok()).collect();
        if let Some(taken) = named.iter().find(|address| taken.contains(address)) {
            return Err(format!("{taken} is another home's"));
        }
        let addresses = match named {
            [] => vec![first_free(config, &taken).ok_or("all addresses of the fleet's network are taken")?],
            named => named.to_vec(),
        };
        let text = |all: &[PublicKey]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let home = json!({ "name": name, "addresses": addresses, "public_keys": text(keys) });
        let mut entries = vec![(format!("homes/{name}"), home.to_string())];
        entries.extend(addresses.iter().map(|address| (format!("addresses/{address}"), name.to_owned())));
        if registry.create(&entries)? {
            return Ok(addresses);
        }
    }
    Err("others took every address that was tried. Remedy: try again".to_owned())
}

/// The first address that no home has; the first two of a network are left for routers.
fn first_free(config: &RegistryConfig, taken: &HashSet<IpAddr>) -> Option<IpAddr> {
    let network = config.network.first()?;
    let place = |n: u32| match network.address {
        IpAddr::V4(first) => first.to_bits().checked_add(n).map(|bits| IpAddr::V4(bits.into())),
        IpAddr::V6(first) => first.to_bits().checked_add(n.into()).map(|bits| IpAddr::V6(bits.into())),
    };
    let is_last = |address: &IpAddr| matches!(address, IpAddr::V4(v4) if v4.octets()[3] == 255);
    let mut places = (2..=u32::MAX).map_while(place).take_while(|&address| network.contains(address));
    places.find(|address| !taken.contains(address) && !is_last(address))
}

/// The port of the home with this address, of those that begin with `first`: homes are spread over them.
pub fn port_of(config: &RegistryConfig, first: u16, address: IpAddr) -> u16 {
    let last_bytes = match address {
        IpAddr::V4(v4) => v4.to_bits(),
        IpAddr::V6(v6) => v6.to_bits() as u32,
    };
    first + (last_bytes % u32::from(config.ports.max(1))) as u16
}

/// Takes a home's rights away at all gateways, or gives them back.
///
/// # Errors
/// There is no such home, or the registry cannot be written to.
pub fn revoke(config: &RegistryConfig, name: &str, is_undone: bool) -> Result<(), String> {
    let mut registry = Registry::new(config)?;
    let key = format!("revoked/{name}");
    if is_undone {
        let was = registry.delete(&key)?;
        return if was { Ok(()) } else { Err(format!("the rights of {name} have not been revoked")) };
    }
    let known = registry.snapshot()?.1.iter().any(|(key, _)| key.strip_prefix("homes/") == Some(name));
    if !known {
        return Err(format!(
            "no home of the fleet is called {name}. Remedy: prismux fleet status lists them"
        ));
    }
    registry.put(&key, "", None)
}

/// Takes a home off the list: its address is another's from now on, and so may its name be.
///
/// # Errors
/// There is no such home, or the registry cannot be written to.
pub fn remove(config: &RegistryConfig, name: &str) -> Result<(), String> {
    let mut registry = Registry::new(config)?;
    let (_, entries) = registry.snapshot()?;
    let of_home = entries.iter().filter(|(key, value)| key.starts_with("addresses/") && value == name);
    let addresses: Vec<String> = of_home.map(|(key, _)| key.clone()).collect();
    // The home goes first: until its address is free nobody else can have it.
    let was = registry.delete(&format!("homes/{name}"))?;
    for key in &addresses {
        registry.delete(key)?;
    }
    registry.delete(&format!("revoked/{name}"))?;
    if was { Ok(()) } else { Err(format!("no home of the fleet is called {name}")) }
}

/// All that the registry says.
///
/// # Errors
/// It cannot be read.
pub fn view(config: &RegistryConfig) -> Result<View, String> {
    let mut contents = Contents::default();
    contents.replace(Registry::new(config)?.snapshot()?.1);
    Ok(contents.view(&config.network))
}
