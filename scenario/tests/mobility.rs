//! Hosts with places of their own stay there, whatever the others do.
use prismux_plan::MediumModel;
use prismux_scenario::ScenarioFile;
use prismux_wireless::{Mobility, Position};

fn mobility(model: &str) -> Vec<Mobility> {
    let text = format!(
        "duration = \"1 s\"\n[nodes]\nbase = {{ kind = \"host\" }}\nh = {{ kind = \"host\", count = 2 }}\n[radio]\n\
         medium_access = \"ns-2\"\n[mobility]\nmodel = \"{model}\"\narea_m = [400, 300]\n\
         places = {{ base = [200, 150] }}\n[routing]\nprotocol = \"dsr\"\n\
         [flows]\nf = {{ from = \"h-1\", to = \"base\" }}\n"
    );
    let file = ScenarioFile::from_text("places.toml", text);
    let scenario = file.scenario(None, &[]).unwrap_or_else(|error| panic!("{model}\n{error}"));
    match scenario.plan.media.first().map(|medium| &medium.model) {
        Some(MediumModel::Radio(radio)) => radio.mobility.clone(),
        other => panic!("no radio: {other:?}"),
    }
}

#[test]
fn a_base_station_stays_in_its_place_while_the_others_move() {
    for model in ["static", "random-waypoint", "gauss-markov", "manhattan"] {
        let mobility = mobility(model);
        assert_eq!(mobility[0], Mobility::Static(Position { x_m: 200.0, y_m: 150.0 }), "{model}");
        assert_eq!(mobility[1], mobility[2], "{model}");
        assert!(!matches!(mobility[1], Mobility::Static(_)), "{model}");
    }
}

#[test]
fn hosts_that_a_file_puts_outside_of_the_area_are_an_error_where_the_area_is_given() {
    let read = |area: &str, places: &str| {
        let text = format!(
            "duration = \"1 s\"\n[nodes]\nh = {{ kind = \"host\", count = 2 }}\n[radio]\n[mobility]\n\
             model = \"static\"\n{area}\nplaces = {places}\n[flows]\nf = {{ from = \"h-1\", to = \"h-2\" }}\n"
        );
        let file = ScenarioFile::from_text("places.toml", text);
        file.scenario(None, &[]).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let near = "{ h-1 = [0, 0], h-2 = [100, 50] }";
    assert_eq!(read("area_m = [100, 50]", near), "", "the border is inside");
    let error = read("area_m = [99, 50]", near);
    assert!(error.contains("host \"h-2\" is outside of area_m at (100, 50)"), "{error}");
    let walks = "{ h-1 = [0, 0], h-2 = [[0, 10, 10], [5, -1, 10]] }";
    assert!(read("area_m = [99, 50]", walks).contains("outside of area_m at (-1, 10)"));
    assert_eq!(read("", walks), "", "without an area there is no outside");
}

#[test]
fn a_movement_file_that_leaves_the_area_is_refused_and_one_that_is_not_there_says_that_alone() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("movement-files");
    std::fs::create_dir_all(&folder).unwrap();
    let moves = "$node_(0) set X_ 10.0\n$node_(0) set Y_ 20.0\n$node_(1) set X_ 900.0\n$node_(1) set Y_ 20.0\n\
                 $ns_ at 1.0 \"$node_(1) setdest 1100.0 20.0 10.0\"\n";
    std::fs::write(folder.join("moves.tcl"), moves).unwrap();
    let read = |file: &str, width: u32| {
        let text = format!(
            "duration = \"1 s\"\n[nodes]\nh = {{ kind = \"host\", count = 2 }}\n[radio]\n[mobility]\n\
             model = \"ns2-file\"\nfile = \"{file}\"\narea_m = [{width}, 750]\n\
             [flows]\nf = {{ from = \"h-1\", to = \"h-2\" }}\n"
        );
        let file = ScenarioFile::from_text("file.toml", text).in_folder(folder.to_str());
        file.scenario(None, &[]).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(read("moves.tcl", 1100), "");
    let outside = read("moves.tcl", 1000);
    assert!(outside.contains("host \"h-2\" is outside of area_m at (1100, 20)"), "{outside}");
    let missing = read("none.tcl", 1000);
    assert!(missing.contains("cannot read \"none.tcl\"") && !missing.contains("unknown key"), "{missing}");
}

/// What is said of three hosts with this file of movements, if anything.
fn said_of(model: &str, file: &str, text: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("bad-movement-files");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(file), text).unwrap();
    let scenario = format!(
        "duration = \"1 s\"\n[nodes]\nh = {{ kind = \"host\", count = 3 }}\n[radio]\n[mobility]\nmodel = \"{model}\"\n\
         file = \"{file}\"\n[flows]\nf = {{ from = \"h-1\", to = \"h-2\" }}\n"
    );
    let scenario = ScenarioFile::from_text("walk.toml", scenario).in_folder(folder.to_str());
    scenario.scenario(None, &[]).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn a_bad_movement_file_is_told_with_its_line_its_hosts_and_a_way_out() {
    let place = |host: u32| format!("$node_({host}) set X_ 1.0\n$node_({host}) set Y_ 2.0\n");
    let three: String = (0..3).map(place).collect();
    let rows = "time_s,host,x_m,y_m\n0,0,1,2\n0,1,1,2\n0,2,1,2\n";
    let hosts = "3 hosts, from 0, \"h-1\", to 2, \"h-3\"";
    let more = "remedy: add hosts, or take this one out of the file";
    let fewer = "remedy: give it one in the file, or take a host away";
    assert_eq!(said_of("ns2-file", "good.tcl", &three), "");
    assert_eq!(said_of("csv-file", "good.csv", rows), "");
    for (model, file, text, expected) in [
        ("ns2-file", "more.tcl", format!("{three}{}", place(3)), ["more.tcl:7: host 3 does not exist", more]),
        ("ns2-file", "gap.tcl", place(0), ["gap.tcl: host 1 has no place", fewer]),
        ("ns2-file", "own.tcl", "0.0 1.0 2.0 ".repeat(99), ["own.tcl:1: not understood: `0.0", "...`"]),
        ("csv-file", "more.csv", format!("{rows}5,3,1,1\n"), ["more.csv:5: host 3 does not exist", more]),
        ("csv-file", "gap.csv", "0,0,1,2\n".into(), ["gap.csv: host 1 has no place", fewer]),
        ("csv-file", "back.csv", format!("{rows}0,2,1,1\n"), ["back.csv:5: host 2 is in two places", hosts]),
        ("csv-file", "scene.csv", three, ["scene.csv:2: 1 fields instead of 4", "time_s,host,x_m,y_m"]),
    ] {
        let said = said_of(model, file, &text);
        let words = expected.into_iter().chain([hosts, "walk.toml:7:8: mobility.file"]);
        for word in words {
            assert!(said.contains(word), "{file}: {word} is not in\n{said}");
        }
        assert!(said.lines().all(|line| line.len() < 250), "{said}");
    }
}

#[test]
fn where_the_model_is_missing_or_misspelt_its_other_keys_are_no_mistakes() {
    for model in ["", "model = \"statics\"", "model = 7"] {
        let text = format!(
            "duration = \"1 s\"\n[nodes]\nh = {{ kind = \"host\", count = 2 }}\n[radio]\n[mobility]\n{model}\n\
             places = {{ h-1 = [0, 0], h-2 = [100, 0] }}\nspeed = [1, 2]\n\
             [flows]\nf = {{ from = \"h-1\", to = \"h-2\" }}\n"
        );
        let error =
            ScenarioFile::from_text("walk.toml", text).scenario(None, &[]).expect_err(model).to_string();
        assert!(error.contains("mobility.model: ") && !error.contains("mobility.places"), "{error}");
        assert!(error.contains("unknown key \"speed\"") && error.contains("\"speed_m_per_s\""), "{error}");
    }
}

#[test]
fn empty_batteries_and_hosts_without_a_common_channel_are_errors_with_a_way_out() {
    let read = |radio: &str| {
        let text = format!(
            "duration = \"1 s\"\n[nodes]\nh = {{ kind = \"host\", count = 2 }}\n[radio]\n{radio}\n\
             [mobility]\nmodel = \"static\"\narea_m = [100, 100]\n\
             [flows]\nf = {{ from = \"h-1\", to = \"h-2\" }}\n"
        );
        let file = ScenarioFile::from_text("air.toml", text);
        file.scenario(None, &[]).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let empty = read("energy = { battery_j = 0, mains = [\"h-2\"] }");
    assert!(empty.contains("radio.energy.battery_j: found batteries that are empty"), "{empty}");
    assert!(empty.contains("remedy: take such a host out") && !empty.contains("mains:"), "{empty}");
    let apart = read("channels = { h-1 = 1, h-2 = 6 }");
    assert!(apart.contains("no channels that radios share lead from \"h-1\" to \"h-2\""), "{apart}");
    assert!(
        apart.contains("remedy: give \"h-2\", or a host between that routes, a radio on channel 1"),
        "{apart}"
    );
    assert_eq!(read("channels = { h-1 = 1, h-2 = [6, 1] }"), "");
    let off_air = read("hosts = [\"h-1\"]");
    assert!(off_air.contains("remedy: put \"h-2\" on the air ([radio] hosts), or add a link"), "{off_air}");
}
