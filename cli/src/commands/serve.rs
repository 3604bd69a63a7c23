//! `prismux serve`.

use crate::args::ServeArguments;
use crate::failure::Failure;
use crate::output::print;
use prismux_fetch::directory::Directory;
use prismux_fetch::key::PublicKey;
use prismux_fetch::key_file;
use prismux_fetch::serve::{ServeConfig, Serving, reachable_at};
use prismux_fetch::server::{Counters, ServerConfig};
use prismux_linux::event_loop::{StopHandle, block_stop_signals};
use serde_json::json;
use std::env;
use std::net::SocketAddr;
use std::path::PathBuf;

pub(crate) fn run(arguments: &ServeArguments) -> Result<(), Failure> {
    block_stop_signals()?;
    let folder = arguments.folder.display();
    let directory = Directory::open(&arguments.folder).map_err(|error| {
        Failure::Usage(format!("{folder}: {error}\n  remedy: name a folder that can be read"))
    })?;
    let path = arguments.key.clone().map_or_else(default_key_file, Ok)?;
    let key = key_file::load_or_create(&path)
        .map_err(|error| Failure::Usage(format!("key file {}: {error}", path.display())))?;
    let public = key.public();
    let config = ServeConfig {
        listen: arguments.listen(),
        key,
        server: ServerConfig {
            max_clients: arguments.clients,
            rate_cap: arguments.cap,
            ..ServerConfig::default()
        },
        report_every: arguments.report,
    };
    let serving = Serving::bind(&config, &directory, StopHandle::new()?, true).map_err(|error| {
        Failure::Failed(format!(
            "{error}\n  remedy: choose another address or port with --listen ADDRESS:PORT"
        ))
    })?;
    announce(arguments, public, serving.addresses())?;
    let mut last = Counters::default();
    let counters = serving.run(|counters| {
        if counters.datagrams_received != last.datagrams_received || arguments.json {
            let _ = report(arguments, counters);
        }
        last = *counters;
    })?;
    report(arguments, &counters)
}

fn default_key_file() -> Result<PathBuf, Failure> {
    let folder = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".config")));
    let folder = folder.ok_or_else(|| {
        Failure::Usage(
            "neither XDG_CONFIG_HOME nor HOME says where the key goes\n  remedy: give --key FILE".to_string(),
        )
    })?;
    Ok(folder.join("prismux/server.key"))
}

/// Prints the URLs; a client appends the path of a file.
fn announce(arguments: &ServeArguments, key: PublicKey, addresses: &[SocketAddr]) -> Result<(), Failure> {
    let reachable = addresses.iter().flat_map(|&address| reachable_at(address));
    let urls: Vec<String> = reachable.map(|address| format!("prismux://{key}@{address}/")).collect();
    if arguments.json {
        return Ok(print(json!({ "key": key.to_string(), "urls": urls }))?);
    }
    print(format!("serving {}; fetch a file with one of", arguments.folder.display()))?;
    for url in urls {
        print(format!("  prismux fetch {url}FILE"))?;
    }
    Ok(())
}

fn report(arguments: &ServeArguments, counters: &Counters) -> Result<(), Failure> {
    if arguments.json {
        let line = serde_json::to_string(counters).map_err(Failure::failed)?;
        return Ok(print(line)?);
    }
    let sessions = &counters.sessions;
    let dropped = counters.malformed + counters.forged_hellos + sessions.forged + sessions.replayed;
    Ok(print(format!(
        "{} clients; {} opened, {} finished, {} vanished, {} refused; {} bytes of data in {} datagrams; \
            {dropped} datagrams \
         dropped as malformed, forged or replayed; {} requests outside their object",
        counters.clients,
        counters.opened,
        sessions.finished,
        sessions.vanished,
        counters.refused,
        sessions.data_bytes,
        counters.datagrams_sent,
        sessions.outside_object,
    ))?)
}
