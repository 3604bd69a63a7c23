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
