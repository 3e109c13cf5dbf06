/** The default theme without its web fonts (0.8 MB): pages use the fonts of the reader's system. */
import DefaultTheme from 'vitepress/theme-without-fonts';
import './style.css';

export default DefaultTheme;
