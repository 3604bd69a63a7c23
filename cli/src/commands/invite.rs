//! `prismux invite` at a gateway, `prismux join` at a home.
use crate::args::{InviteArguments, JoinArguments};
use crate::failure::Failure;
use crate::output::print;
use prismux_daemons::config::{
    GatewayConfig, HomeConfig, Invitation, RegistryConfig, make_private_key, new_private_key,
};
use prismux_daemons::fleet::members;
use prismux_linux::netconf;
use prismux_sealed::KeyPair;
use qrcode::render::unicode::Dense1x2;
use std::fs::OpenOptions;
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The network that homes get their addresses from unless one is named.
const HOMES: [u8; 3] = [10, 77, 0];

pub(crate) fn invite(arguments: &InviteArguments) -> Result<(), Failure> {
    let file = &arguments.config;
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let is_new = !file.exists();
    if is_new {
        begin_gateway(arguments)?;
    }
    let config = GatewayConfig::load(file).map_err(|error| Failure::Usage(error.to_string()))?;
    let endpoint = arguments.endpoint.or(config.endpoint).ok_or_else(|| no_endpoint(file))?;
    if config.homes.iter().any(|home| home.name == arguments.name) {
        let message = format!(
            "\"{}\" is invited already. Remedy: remove its [[homes]] from {}",
            arguments.name,
            file.display()
        );
        return Err(Failure::Failed(message));
    }
    let gateway = make_private_key(&config.private_key_file).map_err(Failure::failed)?;
    let (private, _) = new_private_key()?;
    let mut invitation = Invitation {
        name: arguments.name.clone(),
        endpoint,
        gateway: gateway.parse().map_err(Failure::failed)?,
        addresses: arguments.address.clone(),
        home: KeyPair::from_private_text(&private).map_err(Failure::failed)?,
    };
    let place = match &config.registry {
        Some(registry) => list_in_registry(registry, &mut invitation)?,
        None => list_in_file(file, &config, &mut invitation)?,
    };
    eprintln!("{place} lists \"{}\" now. Give this to that home and nobody else:", arguments.name);
    if arguments.qr {
        eprintln!("{}", picture(&invitation.to_string())?);
    }
    Ok(print(invitation)?)
}

/// Adds the home to the gateway's file, which must make sense then.
fn list_in_file(file: &Path, config: &GatewayConfig, invitation: &mut Invitation) -> Result<String, Failure> {
    if invitation.addresses.is_empty() {
        invitation.addresses = vec![next_address(config)?];
    }
    let before = std::fs::read_to_string(file)?;
    std::fs::write(file, format!("{before}{}", listed(invitation)))?;
    if let Err(error) = GatewayConfig::load(file) {
        std::fs::write(file, before)?;
        return Err(Failure::Usage(error.to_string()));
    }
    Ok(file.display().to_string())
}

/// Adds the home to the registry, for all gateways, and gives it its port.
fn list_in_registry(registry: &RegistryConfig, invitation: &mut Invitation) -> Result<String, Failure> {
    let keys = invitation.public_keys();
    invitation.addresses =
        members::add(registry, &invitation.name, &invitation.addresses, &keys).map_err(Failure::Failed)?;
    if let Some(&first) = invitation.addresses.first() {
        let port = members::port_of(registry, invitation.endpoint.port(), first);
        invitation.endpoint.set_port(port);
    }
    Ok("the registry".to_owned())
}

/// The web page, for this host alone.
const PAGE: &str = "# The web page, for this host alone.\npage = \"127.0.0.1:9587\"\n";

/// The first address of [`HOMES`] that no home has. The first of all is left for the gateway.
fn next_address(config: &GatewayConfig) -> Result<IpAddr, Failure> {
    let is_taken = |address: &IpAddr| config.homes.iter().any(|home| home.addresses.contains(address));
    let [a, b, c] = HOMES;
    let mut addresses = (2..=254).map(|host| IpAddr::from([a, b, c, host]));
    addresses
        .find(|address| !is_taken(address))
        .ok_or_else(|| Failure::Usage(format!("all of {a}.{b}.{c}.0/24 are taken: name one, with --address")))
}

/// A QR code (ISO/IEC 18004) of half blocks, dark on light as cameras expect it on a dark terminal.
fn picture(text: &str) -> Result<String, Failure> {
    let code =
        qrcode::QrCode::with_error_correction_level(text, qrcode::EcLevel::L).map_err(Failure::failed)?;
    let (dark, light) = (Dense1x2::Light, Dense1x2::Dark);
    Ok(code.render::<Dense1x2>().dark_color(dark).light_color(light).build())
}

fn no_endpoint(file: &Path) -> Failure {
    Failure::Usage(format!(
        "where is this gateway reached from outside? Say --endpoint ADDRESS:PORT, or endpoint = \"ADDRESS:PORT\" in {}",
        file.display()
    ))
}

/// The gateway's file and key.
fn begin_gateway(arguments: &InviteArguments) -> Result<(), Failure> {
    let file = &arguments.config;
    let endpoint = arguments.endpoint.ok_or_else(|| no_endpoint(file))?;
    let key = file.with_file_name("key");
    make_private_key(&key).map_err(Failure::failed)?;
    let any = if endpoint.is_ipv6() { "[::]" } else { "0.0.0.0" };
    let text = format!(
        "# prismux up --config {}\nrole = \"gateway\"\n# Where homes reach this host.\nendpoint = \"{endpoint}\"\n\
         listen = \"{any}:{}\"\nprivate_key_file = {key:?}\n{PAGE}",
        file.display(),
        endpoint.port(),
    );
    Ok(write_private(file, &text)?)
}

fn listed(invitation: &Invitation) -> String {
    let quoted =
        |texts: Vec<String>| texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ");
    let addresses = quoted(invitation.addresses.iter().map(ToString::to_string).collect());
    let keys = quoted(invitation.public_keys().iter().map(ToString::to_string).collect());
    let name = &invitation.name;
    format!(
        "\n[[homes]]\nname = \"{name}\"\naddresses = [{addresses}]\n# One for each uplink.\npublic_keys = [{keys}]\n"
    )
}

pub(crate) fn join(arguments: &JoinArguments) -> Result<(), Failure> {
    let invitation: Invitation = arguments.invitation.parse().map_err(Failure::Usage)?;
    let file = &arguments.config;
    if file.exists() {
        let message =
            format!("{} is there already. Remedy: remove it first, or name another one", file.display());
        return Err(Failure::Failed(message));
    }
    let uplinks = match &arguments.uplink[..] {
        [] => devices_with_default_route(invitation.endpoint.is_ipv6())?,
        named => named.to_vec(),
    };
    if uplinks.is_empty() {
        let message =
            "no device has a default route. Remedy: name the uplinks, --uplink DEVICE,ROUTER for each";
        return Err(Failure::Failed(message.to_owned()));
    }
    if let Some(directory) = file.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let key = file.with_file_name("home.key");
    let addresses: Vec<String> =
        invitation.addresses.iter().map(|address| format!("\"{address}\"")).collect();
    let mut text = format!(
        "# prismux up --config {}\nrole = \"home\"\nname = \"{}\"\nprivate_key_file = {key:?}\n{PAGE}\
         # This box inside the tunnels.\naddresses = [{}]\n\n[gateway]\nendpoint = \"{}\"\npublic_key = \"{}\"\n",
        file.display(),
        invitation.name,
        addresses.join(", "),
        invitation.endpoint,
        invitation.gateway,
    );
    for uplink in &uplinks {
        let (device, router) = uplink.split_once(',').map_or((uplink.as_str(), None), |(d, r)| (d, Some(r)));
        text.push_str(&format!("\n[[uplinks]]\ndevice = \"{device}\"\n"));
        if let Some(router) = router {
            text.push_str(&format!("router = \"{router}\"\n"));
        }
    }
    write_private(&key, &format!("{}\n", invitation.home.private_text()))?;
    write_private(file, &text)?;
    if let Err(error) = HomeConfig::load(file) {
        std::fs::remove_file(file)?;
        std::fs::remove_file(&key)?;
        return Err(Failure::Usage(error.to_string()));
    }
    Ok(print(format!("{} is written: uplinks {}. Next: prismux up", file.display(), uplinks.join(", ")))?)
}

/// Devices that packets of a family may leave by to anywhere, in the routing table's order.
fn devices_with_default_route(is_ipv6: bool) -> Result<Vec<String>, Failure> {
    let family = if is_ipv6 { "-6" } else { "-4" };
    let shown = netconf::ip(&format!("{family} route show default")).map_err(Failure::failed)?;
    let mut devices: Vec<String> = Vec::new();
    // "default via 192.0.2.1 dev eth0 proto dhcp ..."
    for line in shown.lines() {
        let device = line.split_whitespace().skip_while(|word| *word != "dev").nth(1);
        if let Some(device) = device.filter(|device| !devices.iter().any(|known| known == device)) {
            devices.push(device.to_owned());
        }
    }
    Ok(devices)
}

fn write_private(file: &Path, text: &str) -> std::io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(text.as_bytes())
}
