//! What can be configured is read: every field of every configuration has a reader beside the code that fills it.
use prismux_house::rust_source::{fields, reads_field};
use prismux_house::workspace::{is_test_code, read, rust_sources};
use std::path::Path;

/// Configurations and where they are defined.
const CONFIGURATIONS: &[(&str, &[&str])] = &[
    ("protocols/prism/src/config.rs", &["ProxyConfig"]),
    ("protocols/tcp/src/config.rs", &["TcpConfig"]),
    ("protocols/tcp/src/engine/config.rs", &["EngineConfig"]),
    ("protocols/rcp/src/config.rs", &["RcpConfig"]),
    ("protocols/routing/dsr/src/config.rs", &["DsrConfig"]),
    ("protocols/routing/aodv/src/config.rs", &["AodvConfig"]),
    ("protocols/routing/dsdv/src/config.rs", &["DsdvConfig"]),
    ("network/link/src/config.rs", &["LinkConfig", "LinkChange", "Jitter", "GilbertElliott"]),
    ("network/plan/src/node.rs", &["ProxySettings", "MemberSettings"]),
    ("network/plan/src/link.rs", &["Link", "LinkDirection"]),
    ("network/plan/src/flow.rs", &["Flow"]),
    ("network/plan/src/tcp.rs", &["TcpSettings"]),
    ("network/plan/src/transport.rs", &["R2cpSettings", "Pipe", "PtcpSettings", "StripingSettings"]),
    ("network/plan/src/plan.rs", &["Plan", "Measure"]),
    ("daemons/src/config/proxy.rs", &["ProxyConfig"]),
    ("daemons/src/config/member.rs", &["MemberConfig"]),
];

/// Code that fills configurations from files and writes them to files: it names every field and acts on none.
const FILLERS: &[&str] = &["scenario/src", "daemons/src/config"];

/// Fields that are read where they are filled: a file that is named is opened there.
const FILES: &[&str] = &["token_file", "private_key_file", "page_password_file"];

#[test]
fn every_field_of_a_configuration_is_read() {
    let sources: Vec<_> = rust_sources().into_iter().filter(|(path, _)| !is_test_code(path)).collect();
    let (mut dead, mut held) = (Vec::new(), 0);
    for (file, structs) in CONFIGURATIONS {
        let definition = read(Path::new(file));
        // A plan's settings are turned into the protocols' own where they are defined.
        let converts = file.starts_with("network/plan");
        let readers = sources.iter().filter(|(path, _)| {
            let fills = FILLERS.iter().any(|filler| path.to_string_lossy().starts_with(filler));
            !fills && (converts || path != Path::new(file))
        });
        let readers: Vec<&str> = readers.map(|(_, source)| source.as_str()).collect();
        for name in *structs {
            let fields = fields(&definition, name);
            assert!(!fields.is_empty(), "{file} has no struct {name} with fields");
            held += fields.len();
            let unread = |field: &&String| {
                !FILES.contains(&field.as_str()) && !readers.iter().any(|source| reads_field(source, field))
            };
            dead.extend(fields.iter().filter(unread).map(|field| format!("{file}: {name}.{field}")));
        }
    }
    assert!(dead.is_empty(), "nobody reads:\n{}", dead.join("\n"));
    assert!(held > 100, "{held}");
}
