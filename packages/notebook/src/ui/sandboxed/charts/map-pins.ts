import L from 'leaflet';

interface PinOptions {
  readonly markerColor?: string;
  readonly iconColor?: string;
}

/** Names of colours that style sheets do not have, or mean otherwise. */
const colours: { readonly [name: string]: string } = {
  red: '#d63e2a',
  darkred: '#a23336',
  orange: '#f69730',
  green: '#72b026',
  darkgreen: '#728224',
  blue: '#38aadd',
  darkblue: '#00649f',
  purple: '#d252b9',
  darkpurple: '#5b396b',
  cadetblue: '#436978',
  lightred: '#ff8e7f',
  beige: '#ffca92',
  lightgreen: '#bbf970',
  lightblue: '#8adaff',
  pink: '#ff91ea',
  lightgray: '#a3a3a3',
  gray: '#575757',
  black: '#303030',
};

/** Stands for the plugin of this name, whose pictograms are fonts of the network: a pin in the colour that was asked for. */
export const awesomeMarkers = {
  icon({ markerColor = 'blue', iconColor = 'white' }: PinOptions = {}): L.DivIcon {
    const pin = document.createElement('div');
    pin.innerHTML =
      '<svg width="28" height="40" viewBox="0 0 28 40"><path d="M14 39C10 29 1 24 1 14a13 13 0 0 1 26 0c0 10-9 15-13 25z" stroke="#0006"/><circle cx="14" cy="14" r="5"/></svg>';
    pin.querySelector('path')?.setAttribute('fill', colours[markerColor] ?? markerColor);
    pin.querySelector('circle')?.setAttribute('fill', iconColor);
    return L.divIcon({ html: pin, className: 'map-pin', iconSize: [28, 40], iconAnchor: [14, 39], popupAnchor: [0, -34] });
  },
};
